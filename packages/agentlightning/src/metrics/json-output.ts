import type { MetricsSink } from './metrics.ts';

/** Events as JSON lines on an output, for programs that watch a run. */
export function jsonOutputSink(output: { write(text: string): unknown }): MetricsSink {
  return {
    write: (event) => void output.write(`${JSON.stringify(event)}\n`),
    close: async () => {},
  };
}
