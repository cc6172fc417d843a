import { type Exchange, mishap } from './exchange.ts';
import type { LoggedAnswer, LoggedRequest } from './log.ts';
import { sample } from './sampling.ts';
import type { ServerState } from './server-state.ts';

export interface GenerationRequest {
  promptIds: number[];
  model: string;
  n: number;
  maxTokens: number;
  stop: string[];
}

/** A token as it is sent, the log prob left out where a fault wants that. */
export interface SentToken {
  choice: number;
  id: number;
  /** Place in its answer. */
  place: number;
  logProb: number | null;
  /** What it adds to the text, characters whole. */
  text: string;
  finishReason: 'stop' | 'length' | null;
}

export interface Generation {
  logged: LoggedRequest;
  /** The tokens, those of several choices in turn; ends early at a cut. */
  tokens: AsyncIterable<SentToken>;
  /** True once a fault has ended the answer before its end. */
  broken(): boolean;
}

/** Samples what the script says, logs it, and hands it out token by token. */
export function generate(state: ServerState, exchange: Exchange, request: GenerationRequest): Generation {
  const { model } = state;
  const { promptIds, maxTokens, stop } = request;
  const call = state.requests.length;
  const prompt = model.tokenizer.decode(promptIds);
  const answers = Array.from({ length: request.n }, (_, choice) =>
    sample(model, state.script({ promptIds, prompt, choice, call, body: exchange.body }), { maxTokens, stop }),
  );
  const { promise: done, resolve } = withResolver();
  const { path, body, response } = exchange;
  const logged: LoggedRequest = {
    ...{ path, body, model: request.model, promptIds, answers: answers.map(() => nothing()) },
    ...{ startedAt: Date.now(), cancelled: false, done },
  };
  state.requests.push(logged);
  response.once('close', () => {
    logged.cancelled = !response.writableFinished;
    resolve();
  });
  let broken = false;
  async function* tokens(): AsyncGenerator<SentToken> {
    const decoders = answers.map(() => model.decoder());
    const longest = Math.max(...answers.map(({ ids }) => ids.length));
    for (let place = 0; place < longest; place += 1) {
      await exchange.pace(place);
      broken = await mishap(exchange, place);
      if (broken) return;
      for (const [choice, answer] of answers.entries()) {
        if (place >= answer.ids.length) continue;
        yield sentToken(answer, { choice, place, decoder: decoders[choice]!, stop, exchange, log: logged });
      }
    }
    broken = await mishap(exchange, longest);
  }
  return { logged, tokens: tokens(), broken: () => broken };
}

function sentToken(
  answer: LoggedAnswer,
  at: {
    choice: number;
    place: number;
    decoder: { push(id: number): string; finish(): string };
    stop: string[];
    exchange: Exchange;
    log: LoggedRequest;
  },
): SentToken {
  const { choice, place, decoder, exchange, log } = at;
  const id = answer.ids[place]!;
  const logProb = answer.logProbs[place]!;
  const last = place === answer.ids.length - 1;
  const finishReason = last ? answer.finishReason : null;
  const told = log.answers[choice]!;
  told.ids.push(id);
  told.logProbs.push(logProb);
  told.finishReason = finishReason;
  const text = decoder.push(id) + (last ? decoder.finish() : '');
  const lost = exchange.fault?.kind === 'null-log-prob' && place === 0;
  return { choice, id, place, logProb: lost ? null : logProb, text, finishReason };
}

function nothing(): LoggedAnswer {
  return { ids: [], logProbs: [], finishReason: null };
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
