/** Teaches the model: graphs of losses, batches of mixed rows, AdamW. Must not know text, files or sampling. */
export type { OptimizerState } from './optimizer.ts';
export { Trainer } from './trainer.ts';
