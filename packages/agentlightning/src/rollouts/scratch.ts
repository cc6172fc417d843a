import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of attempts, one each, readable by this user alone; they go when the attempt has ended. */
export interface Scratch {
  /** @returns the path of the file with the task's input */
  writeTask(attemptId: string, taskJson: string): string;
  remove(attemptId: string): Promise<void>;
  /** Removes all that is left. */
  close(): void;
}

export function createScratch(): Scratch {
  let root: string | null = null;
  let made = 0;
  const folders = new Map<string, string>();
  return {
    // Synchronous: a small file in a local folder takes less time than a promise for it, several times an attempt.
    writeTask(attemptId, taskJson) {
      root ??= mkdtempSync(join(tmpdir(), 'agl-attempts-'));
      made += 1;
      const folder = join(root, String(made));
      // Recursive: a cleaner of temporary files may have taken the root away from a long run.
      mkdirSync(folder, { mode: 0o700, recursive: true });
      folders.set(attemptId, folder);
      const file = join(folder, 'task.json');
      writeFileSync(file, taskJson);
      return file;
    },
    async remove(attemptId) {
      const folder = folders.get(attemptId);
      folders.delete(attemptId);
      // The agent may have left a whole tree.
      if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
    close() {
      if (root !== null) rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
