import { expect } from 'vitest';
import type { Call } from '../../store/types.ts';
import { byteTokenizer, endOfTurnId, spellOut } from '../../upstreams/testing/byte-text.ts';
import { logProbOf, type ScriptedEngine, scriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './started-gateway.ts';

export interface RecordedConversation {
  gateway: StartedGateway;
  engine: ScriptedEngine;
  attempt: OpenAttempt;
  url: string;
  calls(): Promise<Call[]>;
}

/** A text with characters of several bytes, and pairs that have another tokenisation than the one sampled. */
export const sampleText = 'né 😀 <b>\n42\u2028"é"';

/** A call as the model writes it; parsed and written again it would look different. */
export const toolCallText = '<tool_call>\n{"name": "calculate", "arguments": {"expression":  "6*7"}}\n</tool_call>';

/** A gateway over a model that says one text after the other, spelled out, so that a second tokenisation would show. */
export async function startConversation(texts: string[]): Promise<RecordedConversation> {
  const engine = scriptedEngine((_, call) => [...spellOut(texts[call % texts.length] ?? ''), endOfTurnId]);
  const gateway = await startGateway(engine);
  const attempt = await gateway.attempt();
  const calls = () => gateway.store.listCalls(attempt.attemptId);
  return { gateway, engine, attempt, url: gateway.server.url, calls };
}

/** What the model said is what was recorded, token by token, and each call goes on from the exact ids of the one before. */
export function expectExact(calls: Call[], texts: string[]): void {
  expect(calls.map((call) => call.untrainable)).toEqual(texts.map(() => null));
  expect(calls.map((call) => call.choices[0]?.text)).toEqual(texts);
  for (const [index, call] of calls.entries()) {
    const ids = [...(call.choices[0]?.tokenIds ?? [])];
    expect(ids).toEqual([...spellOut(texts[index] ?? ''), endOfTurnId]);
    expect([...(call.choices[0]?.logProbs ?? [])]).toEqual(ids.map(logProbOf));
    const former = calls[index - 1];
    if (former === undefined) continue;
    const chain = [...(former.promptIds ?? []), ...(former.choices[0]?.tokenIds ?? [])];
    expect([...(call.promptIds ?? [])].slice(0, chain.length)).toEqual(chain);
  }
}

/** The text that a call's prompt adds behind the answer before it. */
export function addedText(former: Call | undefined, call: Call | undefined): string {
  const known = (former?.promptIds?.length ?? 0) + (former?.choices[0]?.tokenIds.length ?? 0);
  return byteTokenizer.decode([...(call?.promptIds ?? [])].slice(known));
}
