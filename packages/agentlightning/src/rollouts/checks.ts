import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { runCommand } from './children/command.ts';
import { startModuleChild } from './children/module-child.ts';
import { ModuleLoadError } from './children/module-load.ts';
import { agentEnvironment } from './environment.ts';
import type { GraderSpec } from './graders/spec.ts';
import { checkCluster } from './runners/kubernetes/check-cluster.ts';
import type { AgentSpec } from './runners/runner.ts';

const startTimeoutMs = 30_000;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Is there an agent to run? Imports a module in a child, looks a command up, has a cluster check a Job; runs none of them.
 * @throws {UserError}
 */
export async function checkAgent(agent: AgentSpec): Promise<void> {
  if ('run' in agent) return;
  const environment = agentEnvironment(process.env, agent.env);
  if ('kubernetes' in agent) await checkCluster(agent);
  else if ('module' in agent) await checkModule('agent', agent, environment);
  else await checkCommand('agent', agent.command, agent.cwd ?? process.cwd(), environment);
}

/**
 * The same for the grader.
 * @throws {UserError}
 */
export async function checkGrader(grader: GraderSpec): Promise<void> {
  if (typeof grader === 'string') return;
  if ('container' in grader) await checkCommand('grader', [grader.container.engine], process.cwd(), process.env);
  if ('module' in grader) await checkModule('grader', grader, process.env);
  if ('command' in grader) await checkCommand('grader', grader.command, grader.cwd ?? process.cwd(), process.env);
}

async function checkModule(
  role: 'agent' | 'grader',
  { module, export: exportName, cwd = dirname(module) }: { module: string; export: string; cwd?: string | undefined },
  environment: Environment,
): Promise<void> {
  if (!(await isThere(module, constants.R_OK))) {
    throw new UserError({
      code: `${role}_module_missing`,
      message: `There is no ${role} module at ${module}, or it cannot be read.`,
      hint: `Correct the path (${role}.module).`,
    });
  }
  const { signal } = new AbortController();
  try {
    const result = 'value';
    const child = await startModuleChild({ module, exportName, result, environment, cwd, startTimeoutMs, signal });
    await child.kill();
  } catch (error) {
    if (!(error instanceof ModuleLoadError)) throw error;
    const missing = error.code === 'export_missing';
    throw new UserError({
      code: `${role}_${error.code}`,
      message: `${module} cannot be used as the ${role}: ${error.message}`,
      hint: missing
        ? `Export a function, \`export default async function (…) {…}\`, or name another export (${role}.export).`
        : `Mend the module (${role}.module).`,
      cause: error,
    });
  }
}

async function checkCommand(
  role: 'agent' | 'grader',
  command: string | readonly string[],
  cwd: string,
  environment: Environment,
): Promise<void> {
  const program = typeof command === 'string' ? firstWord(command) : (command[0] ?? '');
  if (program === null || process.platform === 'win32') return;
  const found =
    typeof command === 'string' && !program.includes('/')
      ? isKnownToShell(program, cwd, environment)
      : isExecutable(program, cwd, environment);
  if (await found) return;
  const where = program.includes('/')
    ? `no executable file ${resolve(cwd, program)}`
    : `no program "${program}" on the PATH`;
  throw new UserError({
    code: `${role}_command_not_found`,
    message: `The ${role}'s command cannot be run: there is ${where}.`,
    hint: `Correct ${role}.command, install the program, or make the file executable; relative paths start at ${cwd}.`,
  });
}

/** The program of a shell command, or null when only the shell can tell (quotes, variables, subshells). */
function firstWord(command: string): string | null {
  return /^\s*(?:[A-Za-z_]\w*=[^\s'"$`\\]*\s+)*([\w./+@%,:-]+)(?=\s|$)/.exec(command)?.[1] ?? null;
}

/** Also true for what the shell brings itself, such as `cd`. */
async function isKnownToShell(program: string, cwd: string, environment: Environment): Promise<boolean> {
  const { end } = await runCommand({
    command: ['/bin/sh', '-c', 'command -v -- "$1"', 'sh', program],
    cwd,
    environment,
    timeoutMs: 10_000,
    graceMs: 0,
    signal: new AbortController().signal,
  });
  return end.kind === 'exited' && end.exitCode === 0;
}

async function isExecutable(program: string, cwd: string, environment: Environment): Promise<boolean> {
  const folders = program.includes('/') ? [''] : (environment.PATH ?? '').split(delimiter);
  for (const folder of folders) {
    if (await isThere(resolve(cwd, join(folder, program)), constants.X_OK)) return true;
  }
  return false;
}

async function isThere(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
