import { apo, gepa } from './prompt/algorithms.ts';
import { grpo } from './rl/grpo.ts';

/** Every algorithm that a configuration can name; a new one is a folder and a line here. */
export const algorithms = [grpo, apo, gepa] as const;
