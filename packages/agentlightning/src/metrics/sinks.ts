import { jsonOutputSink } from './json-output.ts';
import { jsonlSink } from './jsonl.ts';
import type { MetricsEvent, MetricsSink } from './metrics.ts';
import { terminalSink } from './terminal.ts';

interface SinkOptions {
  /** Folder of the run's files. */
  folder: string;
  output: { write(text: string): unknown; isTTY?: boolean };
}

/** Every sink there is; a new one is a file and a line here. */
const sinks = {
  terminal: ({ output }: SinkOptions) => terminalSink(output),
  json: ({ output }: SinkOptions) => jsonOutputSink(output),
  jsonl: ({ folder }: SinkOptions) => jsonlSink(`${folder}/metrics.jsonl`),
} satisfies Record<string, (options: SinkOptions) => MetricsSink>;

type SinkName = keyof typeof sinks;

/** Opens the named sinks as one. */
export function openSinks(names: SinkName[], options: SinkOptions): MetricsSink {
  const open = names.map((name) => sinks[name](options));
  return {
    write(event: MetricsEvent) {
      for (const sink of open) sink.write(event);
    },
    async close() {
      await Promise.all(open.map((sink) => sink.close()));
    },
  };
}
