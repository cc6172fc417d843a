import { type Message, type Turn, UpstreamError } from '../upstreams/index.ts';
import { Answer } from './answer.ts';
import type { Route } from './routes.ts';

export interface PlainQuestion {
  messages: readonly Message[];
  temperature: number;
  maxTokens: number;
  seed: number;
}

/** One answer of a route, for a caller within this process: no client, no attempt, no record. */
export async function answerTo(
  { alias, upstream }: Route,
  { messages, temperature, maxTokens, seed }: PlainQuestion,
  signal: AbortSignal,
): Promise<{ text: string; usage: Answer['usage'] }> {
  const sampling = { temperature, topP: 1, topK: 0, maxTokens, stop: [], seed };
  const turn: Turn = {
    ...{ model: alias, messages: [...messages], tools: [], toolChoice: 'none', n: 1, extra: {} },
    ...{ sampling, sent: { temperature, maxTokens, seed } },
    ...{ stream: false, includeUsage: false, wantLogProbs: false },
  };
  const attemptId = `question-${seed}`;
  const context = { attemptId, agentName: null, signal, toolCallId: () => attemptId };
  const answer = new Answer(1);
  try {
    for await (const event of upstream.generate(turn, context)) answer.apply(event);
  } finally {
    upstream.forget(attemptId);
  }
  const [choice] = answer.choices;
  if (choice === undefined || !answer.complete) {
    throw new UpstreamError({
      code: 'broken_stream',
      status: 502,
      retryable: true,
      message: `The model service "${upstream.name}" ended its answer before it was finished.`,
    });
  }
  return { text: choice.content, usage: answer.usage };
}
