import type { Command } from 'commander';
import { loadConfig } from '../../config/index.ts';
import { checks } from '../doctor/checks.ts';
import { type Diagnosis, examine } from '../doctor/examine.ts';
import { exitCodes } from '../failure.ts';

const marks = { good: '✓', warning: '!', bad: '✗', skipped: '-' } as const;

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look whether everything is there for a run, and try the agent with a canned model')
    .argument('[config]', 'agl.config file, or its folder', '.')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  agl doctor examples/calculator\n\nExit code 1 when something is bad.\n')
    .action(examineProject);
}

async function examineProject(path: string, { json = false }: { json?: boolean }): Promise<void> {
  const { config, file } = await loadConfig(path);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  if (!json) process.stdout.write(`${file}\n`);
  const patient = { config, signal: interrupted.signal };
  const found = await examine(checks, patient, (each) => {
    if (!json) process.stdout.write(`${line(each)}\n`);
  });
  if (json) process.stdout.write(`${JSON.stringify({ config: file, findings: found })}\n`);
  if (found.some(({ state }) => state === 'bad')) process.exitCode = exitCodes.failed;
}

function line({ state, check, message, hint }: Diagnosis): string {
  const [first = '', ...rest] = message.split('\n');
  const more = [...rest, ...(hint === undefined ? [] : [hint])].map((text) => `            ${text}`);
  return [`${marks[state]} ${check.padEnd(9)} ${first}`, ...more].join('\n');
}
