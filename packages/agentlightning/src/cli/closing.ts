/** What to close, in reverse order of opening. One failing part does not keep the others open; its error comes last. */
export class Closing {
  #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** Idempotent. */
  async run(): Promise<void> {
    const steps = this.#steps.reverse();
    this.#steps = [];
    const errors: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }
}
