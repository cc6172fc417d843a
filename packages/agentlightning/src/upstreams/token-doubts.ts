import type { UntrainableReason } from '../store/types.ts';

/** Whether the ids and log probs of one answer can be relied on. */
export class TokenDoubts {
  #missing = false;
  #unequal = false;
  #logProbs = 0;

  /** So many ids came, with so many log probs: they belong together piece by piece, not only in sum. */
  told(ids: number, logProbs: number): void {
    this.#unequal ||= ids !== logProbs;
    this.#logProbs += logProbs;
  }

  /** There were tokens whose ids were not told. */
  idsMissing(): void {
    this.#missing = true;
  }

  get reason(): UntrainableReason | null {
    if (this.#missing) return 'missing_token_ids';
    if (!this.#unequal) return null;
    return this.#logProbs === 0 ? 'missing_log_probs' : 'length_mismatch';
  }
}
