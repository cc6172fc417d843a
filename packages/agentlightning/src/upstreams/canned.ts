import type { Turn, TurnEvent, Upstream } from './upstream.ts';

export interface CannedUpstreamOptions {
  name: string;
  /** Given in turn, over and over. */
  answers: readonly string[];
}

/**
 * A model that says what it is told to, at once: to try an agent without any model. Offered tools are called once with
 * empty arguments, so that an agent that waits for a call goes on. It has no tokens, so nothing can be trained on it.
 */
export function createCannedUpstream({ name, answers }: CannedUpstreamOptions): Upstream {
  let next = 0;
  const say = (): string => {
    const text = answers[next % answers.length] ?? '';
    next += 1;
    return text;
  };
  return {
    name,
    policy: null,
    modelId: name,
    forget() {},
    async *generate(turn, context): AsyncGenerator<TurnEvent> {
      yield { type: 'prompt', ids: null };
      for (let choice = 0; choice < turn.n; choice += 1) {
        const tool = callable(turn);
        if (tool === null) {
          const text = say();
          yield { type: 'text', choice, text };
          yield { type: 'finish', choice, reason: 'stop', rawText: text };
        } else {
          const call = { id: context.toolCallId(choice, 0), name: tool, arguments: '{}' };
          yield { type: 'tool-call', choice, call };
          yield { type: 'finish', choice, reason: 'tool_calls', rawText: JSON.stringify(call) };
        }
      }
      yield { type: 'usage', promptTokens: 0, completionTokens: 0 };
    },
  };
}

/** The first offered tool, unless one has been called already. */
function callable({ tools, toolChoice, messages }: Turn): string | null {
  if (toolChoice === 'none' || messages.some(({ role }) => role === 'tool')) return null;
  return typeof toolChoice === 'object' ? toolChoice.name : (tools[0]?.name ?? null);
}
