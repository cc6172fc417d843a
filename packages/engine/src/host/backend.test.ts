import { afterEach, describe, expect, it } from 'vitest';
import { loadBackend } from './backend.ts';

const importNative = async (): Promise<never> => {
  throw new Error('Cannot find module onnxruntime_binding.node\nRequire stack: …');
};

afterEach(() => {
  delete process.env.AGL_ENGINE_BACKEND;
});

describe('loadBackend', () => {
  it('takes native code where there is some', async () => {
    expect(await loadBackend({ threads: 1 })).toMatchObject({ name: 'native', warning: undefined });
  });

  it('falls back to wasm and says why, what it costs and what to do', async () => {
    const { name, warning } = await loadBackend({ threads: 1, importNative });
    expect(name).toBe('wasm');
    expect(warning).toMatch(
      /Cannot find module onnxruntime_binding.node\).*5 to 10 times slower.*npm install onnxruntime-node/,
    );
    expect(warning).not.toContain('Require stack');
  });

  it('does not fall back when native code was asked for', async () => {
    const loading = loadBackend({ threads: 1, force: 'native', importNative });
    await expect(loading).rejects.toMatchObject({ code: 'backend_missing', hint: expect.any(String) as string });
  });

  it('follows the environment, and the option before it', async () => {
    process.env.AGL_ENGINE_BACKEND = 'wasm';
    expect(await loadBackend({ threads: 1 })).toMatchObject({ name: 'wasm', warning: undefined });
    expect((await loadBackend({ threads: 1, force: 'native' })).name).toBe('native');
    process.env.AGL_ENGINE_BACKEND = 'cuda';
    await expect(loadBackend({ threads: 1 })).rejects.toMatchObject({ code: 'backend_unknown' });
  });
});
