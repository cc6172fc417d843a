// npm run experiment -- sft [--steps 20] [--seeds 3]: whether imitation of the base model's own recorded successes lifts the calculator without any reinforcement
// learning, and whether SFT → GRPO beats both alone on the same number of rollouts. On a quiet machine of 2 cores a step takes about 3 s, the
// defaults about a quarter of an hour.
import { parseArgs } from 'node:util';
import { printResult } from '../scripts/result.mjs';
import { compareArms, mean } from './arms/arms.mjs';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '20' },
    seeds: { type: 'string', default: '3' },
    tasks: { type: 'string', default: '200' },
  },
});
const names = ['sft-grpo', 'sft', 'grpo'];
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
const settings = { validation: { tasks: Number(values.tasks) } };
const outcomes = await compareArms(names, { steps: Number(values.steps), seeds, settings });
const of = (name, key) => mean(outcomes[name].map((outcome) => outcome[key]));
const wins = (name) => seeds.filter((_, at) => outcomes['sft-grpo'][at].after > outcomes[name][at].after).length;
printResult({
  name: 'sft',
  metrics: {
    steps: Number(values.steps),
    ...outcomes,
    sft_lifts: seeds.filter((_, at) => outcomes.sft[at].after > outcomes.sft[at].before).length,
    beats_sft: wins('sft'),
    beats_grpo: wins('grpo'),
  },
  ratios: {
    base: of('sft', 'after') / of('sft', 'before'),
    sft: of('sft-grpo', 'after') / of('sft', 'after'),
    grpo: of('sft-grpo', 'after') / of('grpo', 'after'),
  },
});
