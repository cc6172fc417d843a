import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface WorkspaceOptions {
  /** Where the workspaces are made, one folder an attempt, named by its id. */
  folder: string;
  /** Copied into each of them first. */
  from?: string | undefined;
  /** Which are left for people to look at. */
  keep: 'never' | 'failed' | 'always';
}

/** A working directory for each attempt, so that agents do not meet in their files and graders find what they left. */
export interface Workspaces {
  /** @returns the absolute path of a new folder */
  open(attemptId: string): Promise<string>;
  /** After the grading: it goes, or stays by the policy. */
  release(attemptId: string, options: { failed: boolean }): Promise<void>;
}

/** Those that the configuration's `agent` asks for. */
export function workspacesOf(agent: {
  concurrency: number;
  workspace?: WorkspaceOptions | undefined;
}): Workspaces | undefined {
  return agent.workspace && createWorkspaces(agent.workspace);
}

export function createWorkspaces({ folder, from, keep }: WorkspaceOptions): Workspaces {
  return {
    async open(attemptId) {
      const path = join(folder, attemptId);
      // What a killed controller left of the same attempt is not part of this execution.
      await remove(path);
      await mkdir(path, { recursive: true, mode: 0o700 });
      if (from !== undefined) await cp(from, path, { recursive: true, verbatimSymlinks: true });
      return path;
    },
    async release(attemptId, { failed }) {
      if (keep === 'always' || (keep === 'failed' && failed)) return;
      await remove(join(folder, attemptId));
    },
  };
}

/** Also a tree that is being written to for another moment. */
const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 });
