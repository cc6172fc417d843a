export type Schedule = 'constant' | 'linear' | 'cosine';

export interface LearningRateOptions {
  /** Reached after warm-up. */
  learningRate: number;
  /** Steps of linear rise; the first one already moves. */
  warmupSteps: number;
  schedule: Schedule;
  steps: number;
}

/** What is left of the rate after a share of the steps that follow warm-up; 0 only after the last step. */
const decay: Record<Schedule, (share: number) => number> = {
  constant: () => 1,
  linear: (share) => 1 - share,
  cosine: (share) => (1 + Math.cos(Math.PI * share)) / 2,
};

/** The learning rate of a step, counted from 1. A pure function of the step, so that a resumed run goes on exactly. */
export function learningRateAt(
  { learningRate, warmupSteps, schedule, steps }: LearningRateOptions,
  step: number,
): number {
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  return learningRate * decay[schedule]((step - 1 - warmupSteps) / (steps - warmupSteps));
}
