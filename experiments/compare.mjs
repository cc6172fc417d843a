// npm run experiment -- compare [--arms grpo,expert-iteration,dpo,sft,sft-grpo] [--steps 20] [--seeds 3]: algorithms on the calculator with the same number of
// rollouts each (steps × 16 tasks × 8). On a quiet machine of 2 cores a step takes about 3 s, the defaults about 25 minutes.
import { parseArgs } from 'node:util';
import { printResult } from '../scripts/result.mjs';
import { arms, compareArms, mean } from './arms/arms.mjs';

const { values } = parseArgs({
  options: {
    arms: { type: 'string', default: Object.keys(arms).join(',') },
    steps: { type: 'string', default: '20' },
    seeds: { type: 'string', default: '3' },
    tasks: { type: 'string', default: '200' },
  },
});
const names = values.arms.split(',');
const unknown = names.find((name) => !(name in arms));
if (unknown !== undefined) {
  console.error(`There is no "${unknown}" (--arms). There are: ${Object.keys(arms).join(', ')}.`);
  process.exit(2);
}
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
const settings = { validation: { tasks: Number(values.tasks) } };
const outcomes = await compareArms(names, { steps: Number(values.steps), seeds, settings });
const after = (name) => mean(outcomes[name].map((outcome) => outcome.after));
printResult({
  name: 'compare',
  metrics: { steps: Number(values.steps), ...outcomes },
  ratios: Object.fromEntries(names.slice(1).map((name) => [name, after(names[0]) / after(name)])),
});
