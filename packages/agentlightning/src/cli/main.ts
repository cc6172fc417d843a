import { Command, CommanderError } from 'commander';
import { AgentLightningError } from '../errors.ts';
import { commands } from './commands.ts';
import { exitCodes, explain } from './failure.ts';

const program = new Command('agl')
  .description('Makes the model behind an LLM agent better from what the agent does.')
  .version('0.1.0')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'agl: ')) });

// A reader such as `head` that has seen enough is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

for (const register of commands) register(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  } else {
    process.stderr.write(explain(error));
    process.exitCode = isInterruption(error) ? exitCodes.interrupted : exitCodes.failed;
  }
}

function isInterruption(error: unknown): boolean {
  return AgentLightningError.isInstance(error) && error.code === 'interrupted';
}
