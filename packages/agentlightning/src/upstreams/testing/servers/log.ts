/** One answer as the model sampled it. */
export interface LoggedAnswer {
  ids: number[];
  logProbs: number[];
  finishReason: 'stop' | 'length' | null;
}

/** One generation, as the server saw it. */
export interface LoggedRequest {
  path: string;
  body: Record<string, unknown>;
  /** The adapter or model that answered. */
  model: string;
  promptIds: number[];
  answers: LoggedAnswer[];
  /** UTC milliseconds. */
  startedAt: number;
  /** The client left before the answer was whole. */
  cancelled: boolean;
  /** Resolves when the server is done with it, whichever way. */
  done: Promise<void>;
}
