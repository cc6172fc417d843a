import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { recoverFolder, writeError, writeFileAtomic, writeFolderAtomic } from './atomic.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'agl-atomic-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** What a full disk really says, from the device made for it. */
async function fillTheDisk(): Promise<void> {
  const full = await open('/dev/full', 'w');
  try {
    await full.writeFile('x');
  } finally {
    await full.close();
  }
}

describe('writeFileAtomic', () => {
  it('replaces the content and leaves nothing else behind', async () => {
    const path = join(root, 'a.json');
    await writeFileAtomic(path, 'old');
    await writeFileAtomic(path, async (file) => {
      await file.write('ne');
      await file.write('w');
    });
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await readdir(root)).toEqual(['a.json']);
  });

  it('keeps the old content when writing fails in the middle', async () => {
    const path = join(root, 'a.json');
    await writeFileAtomic(path, 'old');
    const broken = writeFileAtomic(path, async (file) => {
      await file.write('half');
      throw new Error('pulled the plug');
    });
    await expect(broken).rejects.toMatchObject({ code: 'write_failed' });
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(root)).toEqual(['a.json']);
  });

  it.skipIf(process.platform !== 'linux')('calls a full disk by its name', async () => {
    const path = join(root, 'a.json');
    const error = await writeFileAtomic(path, fillTheDisk).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: 'disk_full', retryable: true });
    expect((error as EngineError).message).toContain(path);
    expect(await readdir(root)).toEqual([]);
  });

  it('names the path when the folder is missing', async () => {
    const path = join(root, 'missing', 'a.json');
    await expect(writeFileAtomic(path, 'x')).rejects.toMatchObject({
      code: 'write_failed',
      message: expect.stringContaining(path) as string,
    });
  });
});

describe('writeFolderAtomic', () => {
  const fill = (text: string) => (staging: string) => writeFile(join(staging, 'state'), text);

  it('replaces a folder as a whole', async () => {
    const folder = join(root, 'checkpoint');
    await writeFolderAtomic(folder, async (staging) => {
      await fill('1')(staging);
      await mkdir(join(staging, 'inner'));
      await writeFile(join(staging, 'inner', 'extra'), 'e');
    });
    await writeFolderAtomic(`${folder}/`, fill('2'));
    expect(await readdir(folder)).toEqual(['state']);
    expect(await readFile(join(folder, 'state'), 'utf8')).toBe('2');
    expect(await readdir(root)).toEqual(['checkpoint']);
  });

  it('shows nothing of a folder that is not complete', async () => {
    const folder = join(root, 'checkpoint');
    const seen: string[] = [];
    await writeFolderAtomic(folder, async (staging) => {
      await fill('1')(staging);
      seen.push(...(await readdir(root)));
    });
    expect(seen).toHaveLength(1);
    expect(seen).not.toContain('checkpoint');
  });

  it('keeps the old folder when filling fails', async () => {
    const folder = join(root, 'checkpoint');
    await writeFolderAtomic(folder, fill('1'));
    const error = new EngineError({ code: 'weights_not_finite', message: 'NaN' });
    await expect(writeFolderAtomic(folder, () => Promise.reject(error))).rejects.toBe(error);
    expect(await readFile(join(folder, 'state'), 'utf8')).toBe('1');
    expect(await readdir(root)).toEqual(['checkpoint']);
  });

  it('brings back the old folder after a kill between the two renames', async () => {
    const folder = join(root, 'checkpoint');
    await writeFolderAtomic(folder, fill('1'));
    await rename(folder, `${folder}.previous`);
    await recoverFolder(folder);
    expect(await readFile(join(folder, 'state'), 'utf8')).toBe('1');
    await recoverFolder(folder);
    expect(await readdir(root)).toEqual(['checkpoint']);
  });
});

describe('a writer that is killed', () => {
  /** Kills its own process at the worst moment: when a second thread sees the folder gone, between the two renames. */
  const writer = (folder: string) => `
    import { existsSync, writeFileSync } from 'node:fs';
    import { isMainThread, Worker } from 'node:worker_threads';
    import { writeFolderAtomic } from ${JSON.stringify(new URL('./atomic.js', import.meta.url).href)};
    const folder = ${JSON.stringify(folder)};
    if (!isMainThread) {
      while (existsSync(folder));
      process.kill(process.pid, 'SIGKILL');
    }
    for (let n = 0; n < 300; n++) {
      await writeFolderAtomic(folder, async (staging) => {
        for (const name of ['a', 'b']) writeFileSync(staging + '/' + name, String(n));
      });
      if (n === 0) new Worker(new URL(import.meta.url));
    }
    process.exit(0);`;

  it('leaves one whole state', async () => {
    const folder = join(root, 'checkpoint');
    const script = join(root, 'writer.mjs');
    await writeFile(script, writer(folder));
    spawnSync(process.execPath, [script], { stdio: 'inherit' });
    await recoverFolder(folder);
    const [a, b] = await Promise.all(['a', 'b'].map((name) => readFile(join(folder, name), 'utf8')));
    expect(a).toBe(b);
  });
});

describe('what a killed writer left behind', () => {
  it('is removed by the next write to the same path, unless its writer lives', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']); // a process that is gone
    const abandoned = `.state.${pid}.0123456789ab.partial`;
    const living = `.state.${process.pid}.0123456789ab.partial`;
    const other = `.state.json.${pid}.0123456789ab.partial`;
    for (const name of [abandoned, living, other]) await writeFile(join(root, name), 'half');
    await writeFileAtomic(join(root, 'state'), 'whole');
    expect((await readdir(root)).sort()).toEqual([living, other, 'state'].sort());
  });
});

describe('writeError', () => {
  it.each([
    ['EACCES', 'path_not_writable'],
    ['EROFS', 'path_not_writable'],
    ['EDQUOT', 'disk_full'],
    ['EIO', 'write_failed'],
  ])('%s becomes %s', (errno, code) => {
    const cause = Object.assign(new Error(errno), { code: errno });
    expect(writeError('w.bin', cause)).toMatchObject({ code, cause });
  });
});
