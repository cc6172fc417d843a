import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of attempts, one each, readable by this user alone; they go when the attempt has been graded. */
export interface Scratch {
  /** @returns the path of the file with the task's input */
  writeTask(attemptId: string, taskJson: string): Promise<string>;
  remove(attemptId: string): Promise<void>;
  /** Removes all that is left. */
  close(): Promise<void>;
}

export function createScratch(): Scratch {
  let root: Promise<string> | null = null;
  const folders = new Map<string, string>();
  return {
    async writeTask(attemptId, taskJson) {
      root ??= mkdtemp(join(tmpdir(), 'agl-attempts-'));
      const folder = await mkdtemp(join(await root, 'attempt-'));
      folders.set(attemptId, folder);
      const file = join(folder, 'task.json');
      await writeFile(file, taskJson);
      return file;
    },
    async remove(attemptId) {
      const folder = folders.get(attemptId);
      folders.delete(attemptId);
      if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
    async close() {
      if (root !== null) await rm(await root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
