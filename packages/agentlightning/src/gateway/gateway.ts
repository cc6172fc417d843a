import type { Store } from '../store/store.ts';
import type { Call, Json, JsonObject } from '../store/types.ts';
import { mixSeed, type Turn, UpstreamError } from '../upstreams/index.ts';
import { Answer } from './answer.ts';
import type { AnswerHead, Dialect, DialectStream, EarlierCall, TokenCount } from './dialects/dialect.ts';
import { type Given, streamAgain } from './given.ts';
import { type CallObserver, observation } from './observation.ts';
import { type Problem, problemOf } from './problem.ts';
import type { Prompts } from './prompts.ts';
import { type CallHead, callRecord } from './recording.ts';
import { RequestError } from './request-error.ts';
import type { Route, Routes } from './routes.ts';
import { enforceSampling } from './sampling.ts';
import type { Session } from './session.ts';

export interface GatewayOptions {
  routes: Routes;
  /** Null: sessions that want a record get no answer. */
  store: Pick<Store, 'recordCall' | 'listCalls'> | null;
  /** Absent: no system prompt is replaced. */
  prompts?: Pick<Prompts, 'replaceMarked'> | undefined;
  newId: () => string;
  /** UTC milliseconds. */
  now: () => number;
  /** A call could not be recorded: no further answer can be trusted to be kept. */
  onFatal: (error: unknown) => void;
  /** Told of each call and each refusal, after its end. */
  observe?: CallObserver;
  /** A stream without news for this long gets a comment, so that nobody on the way takes it for dead. Default 15 s. */
  pingMs?: number;
}

/** Where the answer goes. After the client has left, everything is ignored. */
export interface AnswerSink {
  json(status: number, body: string, headers: Record<string, string>): void;
  /** Begins the stream with its first part. Resolves when the client has room for more. */
  write(part: string): void | Promise<void>;
  end(part: string): void;
  readonly begun: boolean;
}

export interface ModelCall {
  dialect: Dialect;
  body: Json;
  /** Below the base path, as the dialect's `paths` have it. */
  path: string;
  session: Session;
  /** From the path or the header. */
  agentName: string | null;
  /** The client's `Idempotency-Key`. */
  idempotencyKey: string | null;
  /** Aborted by the server when the client leaves, by the session when the attempt ends. */
  abort: AbortController;
  sink: AnswerSink;
}

/** A call that has been understood and routed. */
interface Prepared {
  route: Route;
  turn: Turn;
  record: CallHead;
  head: AnswerHead;
  stream: DialectStream | null;
}

const defaultPingMs = 15_000;

/** Answers calls, and acknowledges none that is not recorded (design §5). */
export class Gateway {
  readonly #options: GatewayOptions;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Never rejects: every outcome reaches the sink. */
  async answer(call: ModelCall): Promise<void> {
    const leave = call.session.enter(call.abort);
    try {
      if (call.dialect.count?.matches(call.path)) await this.#count(call, call.dialect.count);
      else await this.#once(call);
    } catch (error) {
      this.#refuse(call, null, problemOf(error));
    } finally {
      leave();
    }
  }

  /** A request that comes again under its idempotency key gets the answer of the first one. */
  async #once(call: ModelCall): Promise<void> {
    const { idempotencyKey: key, session, path, body } = call;
    const run = async () => this.#run(call, await this.#prepare(call, await this.#earlierCalls(call)));
    if (key === null) {
      await run();
      return;
    }
    const earlier = await session.replays.once({ key, path, body }, run);
    if (earlier === null) return;
    if (earlier.head.turn.stream) call.sink.end(streamAgain(call.dialect, earlier));
    else call.sink.json(200, JSON.stringify(earlier.response), {});
  }

  /** Earlier answers, for a request that refers to them. */
  async #earlierCalls({ dialect, body, session }: ModelCall): Promise<EarlierCall[]> {
    const { store } = this.#options;
    if (dialect.refersBack?.(body) !== true || !session.recorded || store === null) return [];
    const calls = await store.listCalls(session.attemptId);
    return calls.flatMap(({ id, dialect: name, request, response }) =>
      name === dialect.name && response !== null ? [{ id, request, response }] : [],
    );
  }

  async #count({ dialect, body, path, session, sink }: ModelCall, count: TokenCount): Promise<void> {
    const turn = dialect.parse({ body, path, earlier: [] });
    const { upstream } = this.#options.routes.resolve(turn.model, session.mode);
    const promptTokens = await upstream.countTokens?.(turn, session.attemptId);
    if (promptTokens === undefined) throw cannotCount(upstream.name);
    sink.json(200, JSON.stringify(count.answer(promptTokens)), {});
  }

  async #prepare({ dialect, body, path, session, agentName }: ModelCall, earlier: EarlierCall[]): Promise<Prepared> {
    const asked = dialect.parse({ body, path, earlier });
    const route = this.#options.routes.resolve(asked.model, session.mode);
    session.budget.admit();
    const startedAt = this.#options.now();
    const { sequence, seed } = session.nextCall();
    const marked = await this.#options.prompts?.replaceMarked(session, asked);
    const { turn, overridden } = enforceSampling(marked?.turn ?? asked, {
      mode: session.mode,
      sampling: session.sampling,
      policy: route.upstream.policy,
      seed,
    });
    Object.assign(overridden, marked?.overridden);
    if (asked.model !== route.alias) overridden.model = asked.model;
    const id = this.#options.newId();
    const request = body as JsonObject;
    const head: AnswerHead = { id, model: route.alias, created: Math.floor(startedAt / 1000), turn, request };
    return {
      route,
      turn,
      head,
      stream: turn.stream ? dialect.stream(head) : null,
      record: {
        id,
        attemptId: session.attemptId,
        rolloutId: session.rolloutId,
        sequence,
        agentName: agentName ?? route.agentName ?? session.agentName,
        model: route.alias,
        policy: route.upstream.policy,
        dialect: dialect.name,
        request,
        sampling: turn.sampling,
        overridden,
        startedAt,
      },
    };
  }

  /** @returns null when no answer was given */
  async #run(call: ModelCall, prepared: Prepared): Promise<Given | null> {
    const { dialect, session, abort, sink } = call;
    const answer = new Answer(prepared.turn.n);
    const { firstTokenAt, error } = await this.#generate(call, prepared, answer);
    const failed = error !== undefined;
    const response = failed ? null : dialect.answer(prepared.head, answer);
    const { promptTokens, completionTokens } = answer.usage;
    session.budget.spend(promptTokens + completionTokens);
    const outcome = {
      response,
      failure: failed ? { error, cancelled: abort.signal.aborted } : null,
      endedAt: this.#options.now(),
      firstTokenAt,
    };
    const record = callRecord(prepared.record, answer, outcome);
    if (session.recorded && prepared.route.recorded !== false) {
      try {
        await this.#record(record);
      } catch (cause) {
        this.#options.onFatal(cause);
        this.#refuse(call, prepared.stream, notRecorded(cause), record);
        return null;
      }
    }
    if (response === null) {
      this.#refuse(call, prepared.stream, problemOf(error), record);
      return null;
    }
    if (prepared.stream === null) sink.json(200, JSON.stringify(response), {});
    else sink.end(prepared.stream.end(answer));
    this.#options.observe?.(observation(call, { status: 200, record, usage: answer.usage }));
    return { head: prepared.head, answer, response };
  }

  /** Runs the upstream to its end, whether the client still reads or not. */
  async #generate(
    { session, abort, sink }: ModelCall,
    { route, turn, record, stream }: Prepared,
    answer: Answer,
  ): Promise<{ firstTokenAt: number | null; error?: unknown }> {
    let firstTokenAt: number | null = null;
    const pulse = stream === null ? null : this.#pulse(sink);
    const context = {
      attemptId: session.attemptId,
      agentName: record.agentName,
      signal: abort.signal,
      toolCallId: (choice: number, index: number) =>
        toolCallId(turn.sampling.seed ?? 0, record.sequence, choice, index),
    };
    try {
      for await (const event of route.upstream.generate(turn, context)) {
        answer.apply(event);
        if (stream === null) continue;
        if (event.type !== 'prompt') firstTokenAt ??= this.#options.now();
        const part = stream.event(event);
        pulse?.refresh();
        const room = part === '' ? undefined : sink.write(part);
        if (room !== undefined) await room;
      }
      if (!answer.complete) throw unfinished(route.upstream.name);
      return { firstTokenAt };
    } catch (error) {
      return { firstTokenAt, error: abort.signal.aborted ? abort.signal.reason : (error ?? 'unknown error') };
    } finally {
      clearInterval(pulse ?? undefined);
    }
  }

  /** Comments, which every reader of server-sent events skips, while the weights change or a queue is long. */
  #pulse(sink: AnswerSink): NodeJS.Timeout {
    return setInterval(() => void sink.write(': waiting\n\n'), this.#options.pingMs ?? defaultPingMs);
  }

  async #record(call: Call): Promise<void> {
    if (this.#options.store === null) throw new Error('This gateway has no store.');
    await this.#options.store.recordCall(call);
  }

  #refuse(call: ModelCall, stream: DialectStream | null, problem: Problem, record?: Call): void {
    const { dialect, sink } = call;
    if (stream !== null && sink.begun) {
      sink.end(stream.error(problem));
    } else {
      // OpenAI's and Anthropic's clients retry by status unless this header says otherwise.
      const headers: Record<string, string> = problem.retryable ? {} : { 'x-should-retry': 'false' };
      sink.json(problem.status, JSON.stringify(dialect.error(problem)), headers);
    }
    this.#options.observe?.(observation(call, { status: problem.status, code: problem.code, record }));
  }
}

function notRecorded(cause: unknown): Problem {
  return problemOf(
    new RequestError({
      code: 'not_recorded',
      status: 503,
      message: 'The answer could not be recorded, so it is not given.',
      cause,
    }),
  );
}

function cannotCount(name: string): RequestError {
  return new RequestError({
    code: 'cannot_count_tokens',
    status: 404,
    message: `The model service "${name}" does not tell how many tokens a prompt has.`,
  });
}

function unfinished(name: string): UpstreamError {
  return new UpstreamError({
    code: 'broken_stream',
    status: 502,
    retryable: true,
    message: `The model service "${name}" ended its answer before it was finished.`,
  });
}

/** The same for the same seed and place, unlike between the calls of an attempt. */
function toolCallId(seed: number, sequence: number, choice: number, index: number): string {
  const halves = [0, 1].map((half) => mixSeed(seed, sequence, choice, index, half).toString(16).padStart(8, '0'));
  return `call_${halves.join('')}`;
}
