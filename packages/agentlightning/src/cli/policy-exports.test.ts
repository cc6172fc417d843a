import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEmbeddedEngine, EngineError } from '@agentlightning/engine';
import { afterAll, expect, it } from 'vitest';
import { exportFurther } from './policy-exports.ts';

const folder = await mkdtemp(join(tmpdir(), 'agl-exports-'));
afterAll(() => rm(folder, { recursive: true }));
const model = fileURLToPath(new URL('../../../../examples/calculator/model', import.meta.url));

it('writes each form beside the policy once', async () => {
  const lora = { rank: 2, alpha: 4, targets: ['q_proj'] as const };
  const engine = await createEmbeddedEngine({ folder: model, lora, threads: 1 });
  const notes: string[] = [];
  const policyFolder = join(folder, 'policy');
  const forms = ['model', 'adapter', 'adapter', 'gguf-f16'] as const;
  await exportFurther(engine, { forms, policyFolder, note: (text) => notes.push(text) });
  await engine.close();
  const adapter = JSON.parse(await readFile(join(folder, 'policy-adapter', 'adapter_config.json'), 'utf8'));
  expect(adapter).toMatchObject({ peft_type: 'LORA', r: 2 });
  expect((await readFile(join(folder, 'policy.f16.gguf'))).subarray(0, 4).toString()).toBe('GGUF');
  expect(existsSync(policyFolder)).toBe(false);
  expect(notes).toEqual([
    `Policy as adapter in ${join(folder, 'policy-adapter')}`,
    `Policy as gguf-f16 in ${join(folder, 'policy.f16.gguf')}`,
  ]);
}, 60_000);

it('says which form failed and goes on with the next', async () => {
  const written: string[] = [];
  const notes: string[] = [];
  const engine = {
    export: async (target: string) => {
      if (target.endsWith('.gguf')) throw new EngineError({ code: 'gguf_unsupported', message: 'No such tokenizer.' });
      written.push(target);
    },
  };
  const forms = ['gguf-q8_0', 'adapter'] as const;
  await exportFurther(engine, { forms, policyFolder: '/run/policy', note: (text) => notes.push(text) });
  expect(written).toEqual(['/run/policy-adapter']);
  expect(notes[0]).toBe('The policy could not be written as gguf-q8_0: No such tokenizer.');
});
