/**
 * Cuts an answer before the first stop text, as the OpenAI API does: the stop text is not part of the answer.
 * Text that may be the start of a stop text is held until the next text decides.
 */
export class StopFilter {
  readonly #stop: string[];
  #held = '';
  #stopped = false;

  constructor(stop: string[]) {
    this.#stop = stop;
  }

  push(text: string): string {
    if (this.#stopped) return '';
    if (this.#stop.length === 0) return text;
    const pending = this.#held + text;
    const cut = firstCompleted(pending, this.#stop);
    if (cut >= 0) {
      this.#stopped = true;
      this.#held = '';
      return pending.slice(0, cut);
    }
    const free = pending.length - Math.max(...this.#stop.map((stop) => overlap(pending, stop)));
    this.#held = pending.slice(free);
    return pending.slice(0, free);
  }

  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}

/** Start of the stop text that is complete first, so that it does not matter how the answer is cut into pieces. */
function firstCompleted(text: string, needles: string[]): number {
  let start = -1;
  let end = Number.POSITIVE_INFINITY;
  for (const needle of needles) {
    const index = text.indexOf(needle);
    const needleEnd = index + needle.length;
    if (index < 0 || needleEnd > end || (needleEnd === end && index > start)) continue;
    start = index;
    end = needleEnd;
  }
  return start;
}

/** Length of the longest end of `text` that is a proper start of `needle`. */
export function overlap(text: string, needle: string): number {
  for (let length = Math.min(text.length, needle.length - 1); length > 0; length -= 1) {
    if (text.endsWith(needle.slice(0, length))) return length;
  }
  return 0;
}
