import { trainPolicy } from './rl/loop.ts';
import { grpoDefaults } from './rl/options.ts';

/** Every algorithm that a configuration can name, with its defaults; a new one is a folder and a line here. */
export const algorithms = {
  grpo: {
    summary: 'group-relative policy optimisation (arXiv 2402.03300)',
    defaults: grpoDefaults,
    train: trainPolicy,
  },
} as const;
