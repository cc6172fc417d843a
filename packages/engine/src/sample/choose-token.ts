import { EngineError } from '../errors.ts';

/** How a token is chosen; meanings as in `SampleRequest`. */
export interface ChoiceParameters {
  /** 0 is greedy. */
  temperature: number;
  /** 0 keeps all. */
  topK: number;
  /** 1 keeps all. */
  topP: number;
}

export interface ChosenToken {
  id: number;
  /** Nats, under softmax(logits / temperature) before any cut; at temperature 0 under softmax(logits). */
  logProb: number;
}

/**
 * Draws one token by inverting the cumulative distribution in the order of the ids. That order, and not one sorted by
 * probability, keeps the outcome the same when logits differ in their last bit between machines.
 * Top-k cuts first, then top-p (nucleus sampling, Holtzman et al. 2019, arXiv 1904.09751) cuts what top-k left, renormalised.
 *
 * @param logits one row of the vocabulary's length
 * @param uniform in [0, 1)
 * @throws {EngineError} `logits_not_finite`
 */
export function chooseToken(logits: Float32Array, parameters: ChoiceParameters, uniform: number): ChosenToken {
  const { temperature, topK, topP } = parameters;
  const best = argmax(logits);
  const greedy = temperature === 0;
  const masses = relativeMasses(logits, best, greedy ? 1 : temperature);
  const total = sum(masses);
  const id = greedy ? best : draw(masses, cut(masses, total, topK, topP), uniform);
  const exponent = (logits[id]! - logits[best]!) / (greedy ? 1 : temperature);
  return { id, logProb: exponent - Math.log(total) };
}

/** Index of the largest logit; of equal ones the first. */
function argmax(logits: Float32Array): number {
  let best = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit - logit !== 0) throw notFinite(id, logit); // NaN for NaN and for both infinities
    if (logit > logits[best]!) best = id;
  }
  return best;
}

let scratch = new Float64Array(0);

/** exp((logit − best) / temperature): probabilities up to their common factor. Valid until the next call. */
function relativeMasses(logits: Float32Array, best: number, temperature: number): Float64Array {
  if (scratch.length !== logits.length) scratch = new Float64Array(logits.length);
  const largest = logits[best]!;
  for (let id = 0; id < logits.length; id++) scratch[id] = Math.exp((logits[id]! - largest) / temperature);
  return scratch;
}

/** Sets the masses that top-k and top-p exclude to 0, and returns the sum of the others. */
function cut(masses: Float64Array, total: number, topK: number, topP: number): number {
  const limitsCount = topK > 0 && topK < masses.length;
  if (!limitsCount && topP >= 1) return total;
  // What lies below this floor weighs less than 1 − topP all together, so no nucleus needs it and it need not be sorted.
  const floor = limitsCount ? 0 : ((1 - topP) * total) / masses.length;
  const ranked: number[] = [];
  for (let id = 0; id < masses.length; id++) if (masses[id]! >= floor) ranked.push(id);
  ranked.sort((a, b) => masses[b]! - masses[a]! || a - b);
  if (limitsCount) ranked.length = topK;
  const kept = topP >= 1 ? ranked : ranked.slice(0, nucleusSize(ranked, masses, topP, limitsCount ? undefined : total));
  const values = kept.map((id) => masses[id]!);
  masses.fill(0);
  kept.forEach((id, rank) => {
    masses[id] = values[rank]!;
  });
  return sum(masses);
}

/** How many of the most probable tokens it takes to reach the share `topP`; at least one. */
function nucleusSize(ranked: number[], masses: Float64Array, topP: number, total: number | undefined): number {
  const target = topP * (total ?? ranked.reduce((all, id) => all + masses[id]!, 0));
  let reached = 0;
  for (let rank = 0; rank < ranked.length; rank++) {
    reached += masses[ranked[rank]!]!;
    if (reached >= target) return rank + 1;
  }
  return ranked.length;
}

function draw(masses: Float64Array, total: number, uniform: number): number {
  const target = uniform * total;
  let reached = 0;
  let last = 0;
  for (let id = 0; id < masses.length; id++) {
    const mass = masses[id]!;
    if (mass === 0) continue;
    reached += mass;
    if (reached > target) return id;
    last = id;
  }
  return last; // rounding can leave the target a hair above the sum
}

function sum(values: Float64Array): number {
  let total = 0;
  for (let index = 0; index < values.length; index++) total += values[index]!;
  return total;
}

function notFinite(id: number, logit: number): EngineError {
  return new EngineError({
    code: 'logits_not_finite',
    message: `The model's logit for token ${id} is ${logit}: its weights or activations have left the range of numbers.`,
    hint: 'Go back to the last checkpoint and lower the learning rate, or set maxGradNorm.',
  });
}
