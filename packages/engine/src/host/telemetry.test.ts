import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeTinyFolder } from '../testing/tiny-folder.ts';

it('the native runtime keeps no device id and no events: the home folder stays empty', async () => {
  const home = mkdtempSync(join(tmpdir(), 'agl-home-'));
  const { root, model } = await writeTinyFolder();
  const program = `
    const { createEmbeddedEngine } = await import(${JSON.stringify(new URL('../index.js', import.meta.url).href)});
    const engine = await createEmbeddedEngine({ folder: ${JSON.stringify(model)}, threads: 1, backend: 'native' });
    await engine.forward([{ tokenIds: Int32Array.of(1, 2, 3), weights: Float32Array.of(0, 1, 1) }]);
    await engine.close();
  `;
  // ONNX Runtime is quiet by itself where CI is set, which would hide what users get.
  const { CI: _, ORT_DISABLE_TELEMETRY: __, ...env } = process.env;
  const file = join(root, 'program.mjs');
  writeFileSync(file, program);
  const result = spawnSync(process.execPath, [file], {
    env: { ...env, HOME: home, XDG_CACHE_HOME: join(home, '.cache') },
    encoding: 'utf8',
  });
  expect(result.stderr).toBe('');
  expect(result.status).toBe(0);
  expect(readdirSync(home)).toEqual([]);
});
