import { styleText } from 'node:util';
import { reportLine } from './format.ts';
import type { MetricsEvent, MetricsSink } from './metrics.ts';

interface TextOutput {
  write(text: string): unknown;
  isTTY?: boolean;
}

/** Plain lines; colour only on a terminal. */
export function terminalSink(output: TextOutput): MetricsSink {
  return {
    write(event) {
      const line = reportLine(event);
      output.write(`${output.isTTY ? colour(event, line) : line}\n`);
    },
    close: async () => {},
  };
}

function colour(event: MetricsEvent, line: string): string {
  if (event.kind === 'validation') return styleText(['bold', 'cyan'], line);
  if (event.kind === 'checkpoint') return styleText('dim', line);
  if (event.kind === 'notice') return styleText(event.level === 'warning' ? 'yellow' : 'dim', line);
  return line;
}
