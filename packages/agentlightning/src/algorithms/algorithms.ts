import { apo, gepa } from './prompt/algorithms.ts';
import { grpo } from './rl/grpo.ts';
import { dpo } from './sft/dpo.ts';
import { expertIteration } from './sft/expert-iteration.ts';
import { sft } from './sft/sft.ts';

/** Every algorithm that a configuration can name; a new one is a folder and a line here. */
export const algorithms = [grpo, sft, expertIteration, dpo, apo, gepa] as const;
