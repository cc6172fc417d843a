import type { JsonObject, SamplingParameters } from '../store/types.ts';

/** One answer to be sampled. */
export interface TokenRequest {
  promptIds: Int32Array;
  maxTokens: number;
  sampling: Pick<SamplingParameters, 'temperature' | 'topP' | 'topK' | 'stop'>;
  seed: number;
  stopIds: number[];
  /** False: nobody waits for single tokens. */
  stream: boolean;
  /** Fields of the client that are for the server to know. */
  extra: JsonObject;
  /** Answers with the same are best sampled by the same of several servers. */
  affinity: string;
  signal: AbortSignal;
}

/** The next tokens of an answer, as the server tells them. */
export interface TokenPiece {
  /** Null: the server did not tell them, though there were tokens. */
  ids: number[] | null;
  /** NaN where one was not told. */
  logProbs: number[];
  policyVersion: number | null;
  /** As the server decoded it; read where there are no ids. */
  text?: string;
  /** The prompt as the server read it, when it says so. */
  promptIds?: number[];
}

/** Whoever samples from token ids. */
export interface TokenServer {
  /**
   * @param tell called with each piece, the end token in the last
   * @returns why it ended
   */
  sample(request: TokenRequest, tell: (piece: TokenPiece) => void): Promise<'stop' | 'length'>;
}
