import type { SampleRequest, SampleResult } from '../contract.ts';
import { type ChosenToken, chooseToken } from './choose-token.ts';
import { uniform } from './random.ts';
import type { StopTextWatch } from './stop-text.ts';

/** The answer to one request as it grows, and whether it has ended. */
export class Answer {
  readonly request: SampleRequest;
  /** Set as soon as the answer has ended by itself. */
  finishReason: 'stop' | 'length' | undefined;
  private readonly limit: number;
  private readonly stopIds: ReadonlySet<number>;
  private readonly stopTexts: StopTextWatch | undefined;
  private readonly ids: number[] = [];
  private readonly logProbs: number[] = [];
  private readonly policyVersions: { from: number; version: number }[] = [];

  /** @param contextTokens room for prompt and answer together; the prompt must be shorter */
  constructor(request: SampleRequest, contextTokens: number, stopTexts?: StopTextWatch) {
    this.request = request;
    this.limit = Math.min(request.maxTokens, contextTokens - request.promptIds.length);
    this.stopIds = new Set(request.stopIds);
    this.stopTexts = stopTexts;
  }

  /** The token that the model reads next; the answer has at least one. */
  get lastId(): number {
    return this.ids.at(-1)!;
  }

  /** Chooses the next token from the logits of one row; `version` is the policy that made them. */
  extend(logits: Float32Array, version: number): ChosenToken {
    const token = chooseToken(logits, this.request, uniform(this.request.seed, this.ids.length));
    if (this.policyVersions.at(-1)?.version !== version) this.policyVersions.push({ from: this.ids.length, version });
    this.ids.push(token.id);
    this.logProbs.push(token.logProb);
    const stopped = this.stopIds.has(token.id) || this.stopTexts?.push(token.id) === true;
    if (stopped) this.finishReason = 'stop';
    else if (this.ids.length >= this.limit) this.finishReason = 'length';
    return token;
  }

  result(finishReason: SampleResult['finishReason']): SampleResult {
    return {
      tokenIds: Int32Array.from(this.ids),
      logProbs: Float32Array.from(this.logProbs),
      finishReason,
      policyVersions: this.policyVersions,
    };
  }
}
