import OpenAI from 'openai';
import { startGateway } from '../../packages/agentlightning/dist/server/testing/started-gateway.js';
import { capabilityStatement, upstreamKinds } from '../../packages/agentlightning/dist/upstreams/index.js';
import { scriptedEngine } from '../../packages/agentlightning/dist/upstreams/testing/scripted-engine.js';

/** A gateway before a real server, whose model is the policy "real"; an attempt, and a client with its key. */
export async function openRealModel(kind, options) {
  const { create } = upstreamKinds.find(({ name }) => name === kind);
  const upstream = await create({ name: 'real', policy: 'real', ...options });
  console.log(capabilityStatement('real', upstream.capabilities));
  const gateway = await startGateway(
    scriptedEngine(() => []),
    { routes: [{ alias: 'real', upstream }] },
  );
  const attempt = await gateway.attempt({ seed: 7 });
  const client = new OpenAI({ baseURL: `${gateway.server.url}/v1`, apiKey: attempt.token, maxRetries: 0 });
  const calls = () => gateway.store.listCalls(attempt.attemptId);
  return { upstream, gateway, client, calls, close: () => gateway.close() };
}

/** Prompt and first answer of a recorded call, one after the other. */
export const tokensOf = ({ promptIds, choices: [choice] }) => [...promptIds, ...choice.tokenIds];

export async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Text and calls of a streamed chat completion, put together. */
export async function readStream(stream) {
  const read = { content: '', reasoning: '', calls: [], pieces: 0 };
  for await (const { choices } of stream) {
    const delta = choices[0]?.delta ?? {};
    read.content += delta.content ?? '';
    read.reasoning += delta.reasoning_content ?? '';
    for (const { index, function: call } of delta.tool_calls ?? []) {
      read.calls[index] ??= { name: '', arguments: '' };
      read.calls[index].name += call.name ?? '';
      read.calls[index].arguments += call.arguments ?? '';
    }
    read.pieces += 1;
  }
  return read;
}
