import { AgentLightningError } from '../errors.ts';

/** Return-to-go: R_t = Σ_{u ≥ t} discount^(u − t) · r_u. */
export function returnsToGo(rewards: readonly number[], discount: number): number[] {
  const returns = [...rewards];
  for (let at = returns.length - 2; at >= 0; at -= 1) returns[at]! += discount * returns[at + 1]!;
  return returns;
}

/**
 * Generalised advantage estimation (arXiv 1506.02438, eq. 16): δ_t = r_t + discount · V_{t+1} − V_t and
 * A_t = Σ (discount · lambda)^l δ_{t+l}. The value after the last entry is 0: an attempt ends there.
 *
 * @returns the advantages, and the returns A + V that a critic learns; float64
 * @throws {AgentLightningError} `shape_mismatch`, `reward_not_finite`
 */
export function generalisedAdvantages(
  { rewards, values }: { rewards: readonly number[]; values: readonly number[] },
  { discount, lambda }: { discount: number; lambda: number },
): { advantages: number[]; returns: number[] } {
  if (rewards.length !== values.length) {
    throw new AgentLightningError({
      code: 'shape_mismatch',
      message: `There are ${rewards.length} rewards, but ${values.length} values.`,
    });
  }
  const wrong = rewards.findIndex((reward, at) => !Number.isFinite(reward) || !Number.isFinite(values[at]));
  if (wrong >= 0) {
    throw new AgentLightningError({
      code: 'reward_not_finite',
      message: `Entry ${wrong + 1} of ${rewards.length} has the reward ${rewards[wrong]} and the value ${values[wrong]}.`,
      hint: 'Leave sequences without a usable reward or value out.',
    });
  }
  const errors = rewards.map((reward, at) => reward + discount * (values[at + 1] ?? 0) - values[at]!);
  const advantages = returnsToGo(errors, discount * lambda);
  return { advantages, returns: advantages.map((advantage, at) => advantage + values[at]!) };
}
