import { defineAlgorithm } from '../algorithm.ts';
import { apoRound, beginApo } from './apo.ts';
import { beginGepa, gepaIteration } from './gepa.ts';
import { apoOptions, gepaOptions } from './options.ts';
import { searching } from './search-algorithm.ts';

export const apo = defineAlgorithm({
  name: 'apo',
  summary: 'prompt optimisation with textual gradients and beam search (arXiv 2305.03495)',
  options: apoOptions,
  ...searching({ begin: beginApo, step: apoRound, members: ({ beam }) => beam }),
});

export const gepa = defineAlgorithm({
  name: 'gepa',
  summary: 'reflective prompt evolution with a Pareto front over tasks (arXiv 2507.19457)',
  options: gepaOptions,
  ...searching({ begin: beginGepa, step: gepaIteration, members: ({ pool }) => pool }),
});
