/** Where a run's figures go. Knows the shape of metrics alone: no store, no engine, no algorithm. */
export { reportLine, sparkline } from './format.ts';
export type {
  CheckpointMetrics,
  Estimate,
  MetricsEvent,
  MetricsSink,
  NoticeMetrics,
  StepMetrics,
  ValidationMetrics,
} from './metrics.ts';
export { openSinks, type SinkName, type SinkOptions } from './sinks.ts';
