/** What answers calls now: a name on the server, and the policy version it stands for. */
export interface ServedModel {
  modelId: string;
  /** Null: the server's weights are none that we count. */
  version: number | null;
}

export interface WeightsToServe {
  version: number;
  /** Where the server finds the weights, on its own disk. */
  path: string;
}

export interface ServedVersionsOptions {
  /** What is served before anything is published. */
  first: ServedModel;
  /** Makes weights available under a name of their own. */
  load(weights: WeightsToServe): Promise<ServedModel>;
  /** Nobody uses them any more. */
  unload(model: ServedModel): Promise<void>;
}

/**
 * The policy version that calls are answered with. Each version has its own name on the server, so calls under way finish
 * with the weights they began with, and every record names its version truly.
 */
export class ServedVersions {
  readonly #options: ServedVersionsOptions;
  readonly #users = new Map<string, number>();
  #current: ServedModel;

  constructor(options: ServedVersionsOptions) {
    this.#options = options;
    this.#current = options.first;
  }

  /** Runs a call with the weights of now. */
  async use<T>(call: (model: ServedModel) => Promise<T>): Promise<T> {
    const model = this.#current;
    this.#count(model, 1);
    try {
      return await call(model);
    } finally {
      this.#count(model, -1);
      await this.#retire(model);
    }
  }

  /** Later calls are answered with these weights. Resolves when the server has them. */
  async publish(weights: WeightsToServe): Promise<void> {
    const former = this.#current;
    this.#current = await this.#options.load(weights);
    await this.#retire(former);
  }

  #count(model: ServedModel, change: number): void {
    this.#users.set(model.modelId, (this.#users.get(model.modelId) ?? 0) + change);
  }

  async #retire(model: ServedModel): Promise<void> {
    const { first, unload } = this.#options;
    const used = this.#users.get(model.modelId) ?? 0;
    if (used > 0 || model.modelId === this.#current.modelId || model.modelId === first.modelId) return;
    if (!this.#users.delete(model.modelId)) return;
    // The next weights are served already; what could not be unloaded only takes room.
    await unload(model).catch(() => {});
  }
}
