import type { Exchange } from './exchange.ts';
import type { LoggedRequest } from './log.ts';
import type { Script } from './sampling.ts';
import type { TestModel } from './test-model.ts';

export interface FakeServerOptions {
  /** Default: `vllm`. */
  kind?: 'vllm' | 'sglang' | 'llamacpp';
  /** Default: it says "ok". */
  script?: Script;
  /** Default: the folder of test-model.ts. */
  model?: TestModel;
  /** Name of the served model. Default: `test-model`. */
  modelId?: string;
  /** Default: 2048 tokens. */
  contextTokens?: number;
  /** Wanted as a bearer token. */
  apiKey?: string;
  /** vLLM: as before 0.10.2, without `return_token_ids`. */
  withoutTokenIds?: boolean;
  /** vLLM: without `VLLM_ALLOW_RUNTIME_LORA_UPDATING`. */
  withoutAdapters?: boolean;
  /** Awaited before each token. Default: one turn of the event loop. */
  pace?: (index: number) => Promise<void>;
}

/** A server's own state, given to its routes. */
export interface ServerState {
  model: TestModel;
  modelId: string;
  contextTokens: number;
  script: Script;
  requests: LoggedRequest[];
  adapters: Map<string, string>;
  options: FakeServerOptions;
}

/** Path → what answers it. A generation logs itself and takes the next ordered fault. */
export interface Route {
  generates?: boolean;
  answer(state: ServerState, exchange: Exchange): void | Promise<void>;
}

export type RouteTable = Record<string, Route>;
