import type { OptimStep } from '../contract.ts';
import { EngineError } from '../errors.ts';
import type { Parameters } from '../model/index.ts';
import { type AdamWMoments, clipScale, globalNorm } from './adamw.ts';
import { adamWUpdate } from './adamw-kernel.ts';

/** What AdamW remembers between steps, by parameter name. */
export interface OptimizerState {
  /** Updates made so far. */
  step: number;
  moments: Map<string, AdamWMoments>;
}

/** Gradients that add up until a step, and AdamW over them. Parameters are updated in place. */
export class Optimizer {
  private readonly parameters: Parameters;
  /** 1-D tensors (norms) are not decayed. */
  private readonly decayed: (name: string) => boolean;
  /** Those that `valueLearningRate` moves. */
  private readonly critic: (name: string) => boolean;
  private readonly gradients = new Map<string, Float32Array>();
  private accumulated = false;
  private state: OptimizerState = { step: 0, moments: new Map() };

  constructor(
    parameters: Parameters,
    decayed: (name: string) => boolean,
    critic: (name: string) => boolean = () => false,
  ) {
    this.parameters = parameters;
    this.decayed = decayed;
    this.critic = critic;
  }

  /** The sum so far, to be added to. */
  gradient(name: string): Float32Array {
    this.accumulated = true;
    return this.named(this.gradients, name);
  }

  /**
   * Applies and clears the gradients; the norm is the one before clipping.
   * @throws {EngineError} `gradients_not_finite`: parameters and state are as before, the gradients are dropped
   */
  step(options: OptimStep): { gradNorm: number } {
    if (!this.accumulated) {
      throw new EngineError({
        code: 'no_gradients',
        message: 'optimStep was called, but there has been no forwardBackward with rows since the last step.',
        hint: 'Skip the step when a batch is empty.',
      });
    }
    const gradNorm = globalNorm(this.gradients.values());
    if (!Number.isFinite(gradNorm)) throw this.refuse();
    this.state.step += 1;
    const update = {
      step: this.state.step,
      beta1: options.beta1 ?? 0.9,
      beta2: options.beta2 ?? 0.999,
      eps: options.eps ?? 1e-8,
      gradientScale: clipScale(gradNorm, options.maxGradNorm),
    };
    for (const [name, gradient] of this.gradients) {
      const { learningRate: shared, valueLearningRate = shared } = options;
      const learningRate = this.critic(name) ? valueLearningRate : shared;
      const weightDecay = this.decayed(name) ? (options.weightDecay ?? 0) : 0;
      adamWUpdate(this.parameters.get(name)!, gradient, this.moments(name), { ...update, learningRate, weightDecay });
    }
    this.clearGradients();
    return { gradNorm };
  }

  clearGradients(): void {
    for (const gradient of this.gradients.values()) gradient.fill(0);
    this.accumulated = false;
  }

  /** The live arrays, not copies: write them out before the next step. */
  snapshot(): OptimizerState {
    for (const name of this.parameters.keys()) this.moments(name);
    return this.state;
  }

  /** Copies `state` in and drops gathered gradients. */
  restore(state: OptimizerState): void {
    const moments = new Map<string, AdamWMoments>();
    for (const [name, parameter] of this.parameters) {
      const saved = state.moments.get(name);
      if (saved?.first.length !== parameter.length || saved.second.length !== parameter.length) {
        throw new EngineError({
          code: 'optimizer_state_mismatch',
          message: `The saved optimizer state does not fit "${name}" with its ${parameter.length} numbers (saved: ${saved?.first.length ?? 'nothing'}).`,
          hint: 'Load the state into the model, and the LoRA setting, that it was saved from.',
          category: 'user',
        });
      }
      moments.set(name, { first: saved.first.slice(), second: saved.second.slice() });
    }
    this.state = { step: state.step, moments };
    this.clearGradients();
  }

  private refuse(): EngineError {
    const culprit = [...this.gradients].find(([, gradient]) => !Number.isFinite(globalNorm([gradient])))?.[0];
    this.clearGradients();
    return new EngineError({
      code: 'gradients_not_finite',
      message: `The gradient of "${culprit}" is not finite, so the step was refused; weights and optimizer state are unchanged.`,
      hint: 'Look for infinite or NaN weights, advantages or log probs in the rows; otherwise lower the learning rate.',
    });
  }

  private moments(name: string): AdamWMoments {
    const known = this.state.moments.get(name);
    if (known !== undefined) return known;
    const { length } = this.parameters.get(name)!;
    const created = { first: new Float32Array(length), second: new Float32Array(length) };
    this.state.moments.set(name, created);
    return created;
  }

  private named(arrays: Map<string, Float32Array>, name: string): Float32Array {
    let array = arrays.get(name);
    if (array === undefined) {
      array = new Float32Array(this.parameters.get(name)!.length);
      arrays.set(name, array);
    }
    return array;
  }
}
