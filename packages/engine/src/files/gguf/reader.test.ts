import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../errors.ts';
import { HeaderCutOff, parseGgufHeader } from './header.ts';
import { openGguf } from './reader.ts';

/** Written and read back by the Python package gguf; made by scripts/vectors/gguf_file.py. */
const folder = fileURLToPath(new URL('../../../vectors/gguf/', import.meta.url));
const path = join(folder, 'formats.gguf');
const expected = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8')) as Record<
  string,
  { shape: number[]; bits: number[] }
>;
const bytes = new Uint8Array(await readFile(path));
const root = await mkdtemp(join(tmpdir(), 'agl-gguf-'));
afterAll(() => rm(root, { recursive: true }));

describe('a GGUF file', () => {
  it.each(Object.entries(expected))('gives %s as the package gguf does, bit by bit', async (name, { shape, bits }) => {
    const reader = await openGguf(path);
    expect(reader.tensors.get(name)).toMatchObject({ shape, format: { name } });
    const numbers = await reader.read(name);
    expect([...new Uint32Array(numbers.buffer)]).toEqual(bits);
    await reader.close();
  });

  it('gives metadata of every kind', async () => {
    const reader = await openGguf(path);
    expect(Object.fromEntries(reader.metadata)).toMatchObject({
      'general.architecture': 'llama',
      numbers: [1, -2, 3],
      texts: ['a', 'ü', ''],
      pi: Math.PI,
      yes: true,
      large: 2 ** 40,
      small: -7,
    });
    await reader.close();
  });

  it('that is cut off anywhere is refused by name', async () => {
    const cut = join(root, 'cut.gguf');
    for (const length of [0, 3, 20, 200, bytes.length - 40]) {
      await writeFile(cut, bytes.subarray(0, length));
      await expect(openGguf(cut)).rejects.toMatchObject({
        code: 'gguf_invalid',
        category: 'user',
        message: expect.stringMatching(/cut\.gguf .*(ends within|cut off)/) as string,
      });
    }
  });

  it('with any changed byte is read or refused, and nothing else', () => {
    fc.assert(
      fc.property(fc.nat(900), fc.nat(255), (at, byte) => {
        const changed = bytes.slice();
        changed[at] = byte;
        try {
          for (const { begin, bytes: size } of parseGgufHeader(changed, changed.length, 'x').tensors.values())
            expect(begin + size).toBeLessThanOrEqual(changed.length);
        } catch (error) {
          expect(error instanceof EngineError || error instanceof HeaderCutOff).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('of an unknown number format is refused with what is supported', () => {
    const text = Buffer.from(bytes).indexOf('F32', 0, 'latin1'); // name, then rank, two sizes, type
    const changed = bytes.slice();
    changed[text + 3 + 4 + 16] = 16;
    expect(() => parseGgufHeader(changed, changed.length, 'm.gguf')).toThrow(
      'm.gguf: tensor "F32" has the number format 16 of ggml; supported are F32, F16, BF16, Q4_0,',
    );
  });
});
