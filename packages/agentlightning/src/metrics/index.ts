/** Where a run's figures go. Knows the shape of metrics alone: no store, no engine, no algorithm. */
export { reportLine, sparkline, usage, verdicts } from './format.ts';
export { openSinks } from './sinks.ts';
