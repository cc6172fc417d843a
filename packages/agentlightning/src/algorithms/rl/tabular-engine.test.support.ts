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
} from '../../engines/engine.ts';
import { clippedSurrogate } from '../../samples/index.ts';

interface State {
  /** logits[previous token][next token] */
  logits: number[][];
  first: number[][];
  second: number[][];
  steps: number;
}

const zeros = (size: number): number[][] => Array.from({ length: size }, () => Array.from({ length: size }, () => 0));

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
  #served: { logits: number[][]; version: number };

  constructor({ vocabularySize, maxTokens = 64 }: { vocabularySize: number; maxTokens?: number }) {
    this.#size = vocabularySize;
    this.#maxTokens = maxTokens;
    const zero = () => zeros(vocabularySize);
    this.#state = { logits: zero(), first: zero(), second: zero(), steps: 0 };
    this.#gradient = zero();
    this.#served = { logits: zero(), version: -1 };
  }

  get weights(): number[][] {
    return structuredClone(this.#state.logits);
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

  async forwardBackward(rows: TrainRow[], loss: LossSpec): Promise<ForwardBackwardResult> {
    let total = 0;
    const logProbs = rows.map(({ tokenIds, weights, advantages, logProbs: behaviourLogProbs }) => {
      const current = this.#logProbs(tokenIds);
      const slopes =
        loss.name === 'cross_entropy'
          ? { loss: current.map((value, t) => -weights[t]! * value), slope: [...weights].map((weight) => -weight) }
          : clippedSurrogate(
              { logProbs: current, behaviourLogProbs: behaviourLogProbs!, advantages: advantages!, weights },
              { low: loss.clipLow, high: loss.clipHigh },
            );
      for (let t = 1; t < tokenIds.length; t += 1) {
        total += slopes.loss[t]!;
        const previous = tokenIds[t - 1]!;
        for (const [token, logProb] of logSoftmax(this.#state.logits[previous]!).entries()) {
          const indicator = token === tokenIds[t] ? 1 : 0;
          this.#gradient[previous]![token]! += slopes.slope[t]! * (indicator - Math.exp(logProb));
        }
      }
      return Float32Array.from(current);
    });
    return { loss: total, logProbs };
  }

  async optimStep(step: OptimStep): Promise<{ gradNorm: number }> {
    const { learningRate, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0, maxGradNorm = 0 } = step;
    const gradNorm = Math.sqrt(this.#gradient.flat().reduce((sum, value) => sum + value ** 2, 0));
    const scale = maxGradNorm > 0 && gradNorm > maxGradNorm ? maxGradNorm / gradNorm : 1;
    const { logits, first, second } = this.#state;
    this.#state.steps += 1;
    for (let row = 0; row < this.#size; row += 1) {
      for (let column = 0; column < this.#size; column += 1) {
        const slope = this.#gradient[row]![column]! * scale;
        first[row]![column] = beta1 * first[row]![column]! + (1 - beta1) * slope;
        second[row]![column] = beta2 * second[row]![column]! + (1 - beta2) * slope ** 2;
        const m = first[row]![column]! / (1 - beta1 ** this.#state.steps);
        const v = second[row]![column]! / (1 - beta2 ** this.#state.steps);
        logits[row]![column]! -= learningRate * (m / (Math.sqrt(v) + eps) + weightDecay * logits[row]![column]!);
      }
    }
    this.#gradient = zeros(this.#size);
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
    this.#gradient = zeros(this.#size);
  }

  async publish(version: number): Promise<void> {
    this.#served = { logits: structuredClone(this.#state.logits), version };
  }

  async export(folder: string): Promise<void> {
    await this.saveState(folder);
  }

  async close(): Promise<void> {}

  #logProbs(tokenIds: Int32Array): number[] {
    return [...tokenIds].map((token, t) => (t === 0 ? 0 : logSoftmax(this.#state.logits[tokenIds[t - 1]!]!)[token]!));
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
