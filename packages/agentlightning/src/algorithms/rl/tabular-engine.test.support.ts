import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Engine,
  EngineInfo,
  ForwardBackwardResult,
  LossSpec,
  OptimStep,
  SampleRequest,
  SampleResult,
  TrainRow,
  ValueResult,
} from '../../engines/engine.ts';
import { clippedSurrogate } from '../../samples/index.ts';

/** A table with what AdamW remembers of it. */
interface Table {
  weights: number[][];
  first: number[][];
  second: number[][];
}

interface State {
  /** weights[previous token][next token] are logits. */
  policy: Table;
  /** weights[0][previous token] are values. */
  critic: Table;
  steps: number;
}

const zeros = (rows: number, columns: number): number[][] =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () => 0));

const tableOf = (rows: number, columns: number): Table => ({
  weights: zeros(rows, columns),
  first: zeros(rows, columns),
  second: zeros(rows, columns),
});

function logSoftmax(logits: readonly number[]): number[] {
  const highest = Math.max(...logits);
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0)) + highest;
  return logits.map((logit) => logit - total);
}

/** The engine contract over a table: the next token depends on the one before it. float64, exact, no threads. */
export class TabularEngine implements Engine {
  readonly #size: number;
  readonly #maxTokens: number;
  #state: State;
  #gradient: number[][];
  #valueGradient: number[][];
  #served: { logits: number[][]; version: number };

  constructor({ vocabularySize, maxTokens = 64 }: { vocabularySize: number; maxTokens?: number }) {
    this.#size = vocabularySize;
    this.#maxTokens = maxTokens;
    const size = vocabularySize;
    this.#state = { policy: tableOf(size, size), critic: tableOf(1, size), steps: 0 };
    this.#gradient = zeros(size, size);
    this.#valueGradient = zeros(1, size);
    this.#served = { logits: zeros(size, size), version: -1 };
  }

  get weights(): number[][] {
    return structuredClone(this.#state.policy.weights);
  }

  /** Predicted return after each token. */
  get values(): number[] {
    return structuredClone(this.#state.critic.weights[0]!);
  }

  info(): EngineInfo {
    const parameters = this.#size ** 2;
    return {
      name: 'tabular',
      reduction: 'sum',
      vocabularySize: this.#size,
      maxTokens: this.#maxTokens,
      parameters,
      trainableParameters: parameters,
      valueHead: true,
      backend: 'test',
    };
  }

  async sample({ promptIds, maxTokens, temperature, stopIds, seed }: SampleRequest): Promise<SampleResult> {
    const { logits, version } = this.#served;
    const tokenIds: number[] = [];
    const logProbs: number[] = [];
    let previous = promptIds.at(-1)!;
    while (tokenIds.length < maxTokens && !stopIds.includes(tokenIds.at(-1) ?? -1)) {
      const greedy = temperature === 0;
      const candidates = logSoftmax(logits[previous]!.map((logit) => logit / (greedy ? 1 : temperature)));
      previous = greedy
        ? candidates.indexOf(Math.max(...candidates))
        : draw(candidates, uniform(seed, tokenIds.length));
      tokenIds.push(previous);
      logProbs.push(candidates[previous]!);
    }
    return {
      tokenIds: Int32Array.from(tokenIds),
      logProbs: Float32Array.from(logProbs),
      finishReason: tokenIds.length < maxTokens ? 'stop' : 'length',
      policyVersions: [{ from: 0, version }],
    };
  }

  async forward(rows: TrainRow[]): Promise<Float32Array[]> {
    return rows.map(({ tokenIds }) => Float32Array.from(this.#logProbs(tokenIds)));
  }

  async forwardValues(rows: TrainRow[]): Promise<ValueResult> {
    return { logProbs: await this.forward(rows), values: rows.map(({ tokenIds }) => this.#values(tokenIds)) };
  }

  async forwardBackward(rows: TrainRow[], loss: LossSpec): Promise<ForwardBackwardResult> {
    let total = 0;
    const logProbs = rows.map(({ tokenIds, weights, advantages, logProbs: behaviourLogProbs, valueSlopes }) => {
      const current = this.#logProbs(tokenIds);
      const slopes =
        loss.name !== 'clipped_policy_gradient'
          ? { loss: current.map((value, t) => -weights[t]! * value), slope: [...weights].map((weight) => -weight) }
          : clippedSurrogate(
              { logProbs: current, behaviourLogProbs: behaviourLogProbs!, advantages: advantages!, weights },
              { low: loss.clipLow, high: loss.clipHigh },
            );
      for (let t = 1; t < tokenIds.length; t += 1) {
        total += slopes.loss[t]!;
        const previous = tokenIds[t - 1]!;
        if (loss.name === 'actor_critic') {
          total += valueSlopes![t]! * this.#state.critic.weights[0]![previous]!;
          this.#valueGradient[0]![previous]! += valueSlopes![t]!;
        }
        for (const [token, logProb] of logSoftmax(this.#state.policy.weights[previous]!).entries()) {
          const indicator = token === tokenIds[t] ? 1 : 0;
          this.#gradient[previous]![token]! += slopes.slope[t]! * (indicator - Math.exp(logProb));
        }
      }
      return Float32Array.from(current);
    });
    const values = rows.map(({ tokenIds }) => this.#values(tokenIds));
    return { loss: total, logProbs, ...(loss.name === 'actor_critic' && { values }) };
  }

  async optimStep(step: OptimStep): Promise<{ gradNorm: number }> {
    const { learningRate, valueLearningRate = learningRate, maxGradNorm = 0 } = step;
    const gradients = [...this.#gradient, ...this.#valueGradient].flat();
    const gradNorm = Math.sqrt(gradients.reduce((sum, value) => sum + value ** 2, 0));
    const scale = maxGradNorm > 0 && gradNorm > maxGradNorm ? maxGradNorm / gradNorm : 1;
    const { policy, critic } = this.#state;
    this.#state.steps += 1;
    const { steps } = this.#state;
    adamW(policy, this.#gradient, { ...step, scale, steps });
    adamW(critic, this.#valueGradient, { ...step, learningRate: valueLearningRate, scale, steps });
    this.#clear();
    return { gradNorm };
  }

  async saveState(folder: string): Promise<void> {
    await rm(`${folder}.new`, { recursive: true, force: true });
    await mkdir(`${folder}.new`, { recursive: true });
    await writeFile(join(`${folder}.new`, 'state.json'), JSON.stringify(this.#state));
    await rm(folder, { recursive: true, force: true });
    await rename(`${folder}.new`, folder);
  }

  async loadState(folder: string): Promise<void> {
    this.#state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'));
    this.#clear();
  }

  async publish(version: number): Promise<void> {
    this.#served = { logits: structuredClone(this.#state.policy.weights), version };
  }

  async export(folder: string): Promise<void> {
    await this.saveState(folder);
  }

  async close(): Promise<void> {}

  #clear(): void {
    this.#gradient = zeros(this.#size, this.#size);
    this.#valueGradient = zeros(1, this.#size);
  }

  #values(tokenIds: Int32Array): Float32Array {
    return Float32Array.from(tokenIds, (_, t) => (t === 0 ? 0 : this.#state.critic.weights[0]![tokenIds[t - 1]!]!));
  }

  #logProbs(tokenIds: Int32Array): number[] {
    return [...tokenIds].map((token, t) =>
      t === 0 ? 0 : logSoftmax(this.#state.policy.weights[tokenIds[t - 1]!]!)[token]!,
    );
  }
}

function adamW(table: Table, gradient: number[][], options: OptimStep & { scale: number; steps: number }): void {
  const { learningRate, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0, scale, steps } = options;
  const { weights, first, second } = table;
  for (const [row, slopes] of gradient.entries()) {
    for (const [column, raw] of slopes.entries()) {
      const slope = raw * scale;
      first[row]![column] = beta1 * first[row]![column]! + (1 - beta1) * slope;
      second[row]![column] = beta2 * second[row]![column]! + (1 - beta2) * slope ** 2;
      const m = first[row]![column]! / (1 - beta1 ** steps);
      const v = second[row]![column]! / (1 - beta2 ** steps);
      weights[row]![column]! -= learningRate * (m / (Math.sqrt(v) + eps) + weightDecay * weights[row]![column]!);
    }
  }
}

/** The token whose share of [0, 1) has `point` in it. */
function draw(logProbs: readonly number[], point: number): number {
  let upTo = 0;
  for (const [token, logProb] of logProbs.entries()) {
    upTo += Math.exp(logProb);
    if (point < upTo) return token;
  }
  return logProbs.length - 1;
}

/** A number in [0, 1) that depends on its arguments alone. */
function uniform(seed: number, position: number): number {
  let bits = (seed ^ Math.imul(position + 1, 0x9e3779b9)) >>> 0;
  for (const factor of [0x85ebca6b, 0xc2b2ae35]) {
    bits = Math.imul(bits ^ (bits >>> 16), factor) >>> 0;
  }
  return ((bits ^ (bits >>> 13)) >>> 0) / 2 ** 32;
}
