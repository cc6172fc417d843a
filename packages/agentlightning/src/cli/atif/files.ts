import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ArchiveError, translateFileError } from '../../store/archive/index.ts';
import type { JsonObject } from '../../store/types.ts';

/** Of the format what an attempt is made of; everything else is kept and not looked at. */
const step = z.looseObject({ source: z.enum(['system', 'user', 'agent']) });
const rewardOf = z.looseObject({
  name: z.string().min(1),
  value: z.number().nullable(),
  source: z.enum(['grader', 'agent', 'stdout']),
  agent_name: z.string().optional(),
  call_id: z.string().optional(),
});
const ownExtra = z.looseObject({
  run_id: z.string().min(1).optional(),
  task_id: z.string().min(1).optional(),
  rollout_id: z.string().min(1).optional(),
  attempt: z.int().min(1).optional(),
  state: z.enum(['running', 'succeeded', 'failed', 'cancelled']).optional(),
  mode: z.enum(['train', 'validation']).optional(),
  step: z.int().optional(),
  task_input: z.record(z.string(), z.unknown()).optional(),
  failure: z.object({ class: z.enum(['agent', 'infrastructure']), code: z.string(), message: z.string() }).optional(),
  rewards: z.array(rewardOf).optional(),
});
const trajectory = z.looseObject({
  schema_version: z.string().regex(/^ATIF-v1\./, 'ATIF-v1.… was expected'),
  session_id: z.string().min(1),
  trajectory_id: z.string().min(1).optional(),
  agent: z.looseObject({ name: z.string() }),
  steps: z.array(step).min(1),
  extra: z.unknown().optional(),
});

export interface TrajectoryFile {
  /** Of the trajectory: its own, or that of the file. */
  id: string;
  sessionId: string;
  trajectory: JsonObject;
  /** What `agl export` says of the attempt; of others nothing. */
  own: z.infer<typeof ownExtra>;
  /** When the file was last written: UTC milliseconds. */
  writtenAt: number;
}

/** Whether trajectories lie there: a JSON file that says so, or a folder of JSON files that is no archive. */
export async function holdsTrajectories(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found === null) return false;
  if (found.isFile()) return path.endsWith('.json');
  return !existsSync(join(path, 'manifest.json')) && (await jsonFilesIn(path)).length > 0;
}

/** In the order of their names. @throws {ArchiveError} `not_a_trajectory` naming file and field */
export async function readTrajectories(path: string): Promise<TrajectoryFile[]> {
  try {
    const files = (await stat(path)).isFile() ? [path] : await jsonFilesIn(path);
    return await Promise.all(files.map(readTrajectory));
  } catch (error) {
    throw translateFileError(error, path);
  }
}

async function jsonFilesIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => join(folder, name));
}

async function readTrajectory(path: string): Promise<TrajectoryFile> {
  const writtenAt = Math.round((await stat(path)).mtimeMs);
  const content = parse(path, await readFile(path));
  const checked = trajectory.safeParse(content);
  if (!checked.success) throw notOne(path, explain(checked.error));
  const { session_id: sessionId, trajectory_id: id, extra } = checked.data;
  // Another writer's `extra` is its own affair; what looks like ours and is broken is not.
  const isOurs = typeof extra === 'object' && extra !== null && 'attempt_id' in extra;
  const own = ownExtra.safeParse(isOurs ? extra : {});
  if (!own.success) throw notOne(path, explain(own.error, 'extra'));
  return {
    id: id ?? basename(path, '.json'),
    ...{ sessionId, own: own.data, writtenAt },
    trajectory: content as JsonObject,
  };
}

function parse(path: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw notOne(path, error instanceof Error ? error.message : String(error), error);
  }
}

function explain(error: z.ZodError, within?: string): string {
  const [{ path, message }] = error.issues as [z.core.$ZodIssue];
  const field = [...(within === undefined ? [] : [within]), ...path].join('.');
  return `${field}: ${message}`;
}

function notOne(path: string, what: string, cause?: unknown): ArchiveError {
  return new ArchiveError({
    code: 'not_a_trajectory',
    message: `${path} is no trajectory of ATIF 1: ${what}.`,
    hint: 'Nothing was imported. Mend the file or take it away, and import again.',
    cause,
  });
}
