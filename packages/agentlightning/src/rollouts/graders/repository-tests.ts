import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { Json } from '../../store/types.ts';
import { runCommand } from '../children/command.ts';
import type { ResourceLimits } from '../children/resource-limits.ts';
import { agentEnvironment } from '../environment.ts';
import { type Grader, GraderError, type GraderRequirement } from './grader.ts';

export interface RepositoryTestsSpec {
  tests: {
    command: string | readonly string[];
    /** Private field: path in the workspace → content of a test that the agent must not have seen or changed. */
    files?: string | undefined;
  };
  limits?: ResourceLimits | undefined;
  timeoutSeconds: number;
}

const graceMs = 1000;
/** What a shell says of a command that it cannot run. */
const notRunnable = new Set([126, 127]);

/**
 * Runs tests in the workspace that the agent left: 1 when they pass (exit code 0), else 0. The task's own test files are
 * written over what is there first. The tests run the agent's code, so they get no more of our environment than an agent
 * does, and tests that never end are the agent's doing.
 */
export function createRepositoryTestsGrader({ tests, limits = {}, timeoutSeconds }: RepositoryTestsSpec): Grader {
  return {
    name: 'tests',
    wantsCalls: false,
    async grade({ task, workspace, signal }) {
      if (workspace === null) {
        throw new GraderError(
          'grader_crash',
          'The grader "tests" needs the workspace of the attempt: set agent.workspace.',
        );
      }
      if (tests.files !== undefined) await placeFiles(workspace, task.private[tests.files]);
      const { end, log } = await runCommand({
        command: tests.command,
        cwd: workspace,
        environment: agentEnvironment(process.env),
        timeoutMs: timeoutSeconds * 1000,
        graceMs,
        signal,
        limits,
        workspace,
      });
      switch (end.kind) {
        case 'exited':
          if (!notRunnable.has(end.exitCode)) return end.exitCode === 0 ? 1 : 0;
          throw new GraderError(
            'grader_crash',
            `The command of the tests cannot be run (exit code ${end.exitCode}).`,
            log,
          );
        case 'timeout':
        case 'signalled':
        case 'exceeded':
          return 0;
        case 'spawn_failed':
          throw new GraderError('grader_crash', `The command of the tests cannot be run: ${end.message}`, log);
        case 'aborted':
          throw new GraderError('grader_crash', 'The grading was stopped.', log);
      }
    },
    close: () => Promise.resolve(),
  };
}

export function repositoryTestsRequirements({ tests }: RepositoryTestsSpec): GraderRequirement[] {
  if (tests.files === undefined) return [];
  const check = (value: Json) => (isFileTable(value) ? null : 'is no object of paths and file contents');
  return [{ field: tests.files, grader: 'tests', check }];
}

function isFileTable(value: Json | undefined): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([path, content]) => typeof content === 'string' && isWithin('/w', join('/w', path)))
  );
}

/** @throws {GraderError} for what is no file table; a workspace whose links lead elsewhere gets no file there */
async function placeFiles(workspace: string, files: Json | undefined): Promise<void> {
  if (!isFileTable(files)) throw new GraderError('grader_crash', 'The task has no usable table of test files.');
  const root = await realpath(workspace);
  for (const [path, content] of Object.entries(files)) {
    const target = join(root, path);
    await clearWay(root, dirname(target));
    await mkdir(dirname(target), { recursive: true });
    await rm(target, { recursive: true, force: true });
    await writeFile(target, content);
  }
}

/** Removes from the way to a folder whatever the agent put there that is no folder: a link would lead our files out. */
async function clearWay(root: string, folder: string): Promise<void> {
  let path = root;
  for (const part of relative(root, folder).split(/[\\/]/).filter(Boolean)) {
    path = join(path, part);
    const found = await lstat(path).catch(() => null);
    if (found !== null && !found.isDirectory()) await rm(path, { force: true });
  }
}

function isWithin(folder: string, path: string): boolean {
  const inner = relative(folder, path);
  return inner !== '' && !inner.startsWith('..') && !isAbsolute(inner);
}
