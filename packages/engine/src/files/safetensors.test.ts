import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { openSafetensors, readSafetensors } from './safetensors.ts';
import { encodeHeader } from './safetensors-header.ts';
import { type WritableTensor, writeSafetensors } from './safetensors-writer.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'agl-safetensors-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const shape = fc.array(fc.nat({ max: 4 }), { maxLength: 3 });
const tensor = shape.chain((sizes) => {
  const length = sizes.reduce((product, size) => product * size, 1);
  return fc.record({
    shape: fc.constant(sizes),
    data: fc.array(fc.float(), { minLength: length, maxLength: length }).map((values) => Float32Array.from(values)),
  });
});
const name = fc.string({ unit: 'grapheme' }).filter((text) => text !== '__metadata__');
const tensors = fc.array(fc.tuple(name, tensor), { maxLength: 5 }).map((entries) => new Map(entries));
const metadata = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true });

function fileWith(header: string | Uint8Array, dataBytes = 0, claimedLength?: number): Uint8Array {
  const json = typeof header === 'string' ? new TextEncoder().encode(header) : header;
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(claimedLength ?? json.length), true);
  bytes.set(json, 8);
  return bytes;
}

const entry = (text: string) => `{"w":${text}}`;

describe('a safetensors file', () => {
  it('comes back as it was written, names, shapes, bits and metadata', async () => {
    const path = join(root, 'round.safetensors');
    await fc.assert(
      fc.asyncProperty(tensors, metadata, async (content, texts) => {
        await writeSafetensors(path, content, { metadata: texts });
        const back = await readSafetensors(path);
        expect(back.metadata).toEqual(texts);
        expect([...back.tensors.keys()].sort()).toEqual([...content.keys()].sort());
        for (const [key, { shape, data }] of content) {
          expect(back.tensors.get(key)!.shape).toEqual(shape);
          expect(Buffer.from(back.tensors.get(key)!.data.buffer)).toEqual(Buffer.from(data.buffer));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('does not depend on the order of its tensors, and starts its data at a multiple of 8', async () => {
    const a: [string, WritableTensor] = ['a', { shape: [2], data: Float32Array.of(1, 2) }];
    const b: [string, WritableTensor] = ['b', { shape: [], data: () => Float32Array.of(3) }];
    await writeSafetensors(join(root, 'ab'), new Map([a, b]));
    await writeSafetensors(join(root, 'ba'), new Map([b, a]));
    const bytes = await readFile(join(root, 'ab'));
    expect(await readFile(join(root, 'ba'))).toEqual(bytes);
    expect((bytes.length - 12) % 8).toBe(0);
    expect(bytes.subarray(-12)).toEqual(Buffer.from(Float32Array.of(1, 2, 3).buffer));
  });

  it('refuses to write a tensor whose numbers do not fill its shape', async () => {
    const broken = new Map([['w', { shape: [2, 2], data: new Float32Array(3) }]]);
    await expect(writeSafetensors(join(root, 'x'), broken)).rejects.toMatchObject({
      code: 'tensor_shape_mismatch',
      message: expect.stringContaining('"w"') as string,
    });
  });

  const cases: [string, Uint8Array, RegExp][] = [
    ['nothing', new Uint8Array(0), /0 bytes long/],
    ['a cut length', new Uint8Array(5), /5 bytes long/],
    ['a header longer than the file', fileWith('{}', 0, 50), /truncated: its header needs 58 bytes, the file has 10/],
    ['a huge header', fileWith('{}', 0, 2 ** 40), /header of 1099511627776 bytes/],
    ['a header that is no JSON', fileWith('{"w":'), /not JSON/],
    ['a header that is no text', fileWith(Uint8Array.of(0xff, 0xfe)), /not JSON/],
    ['a header that is a list', fileWith('[]'), /not a JSON object/],
    ['an entry that is no object', fileWith(entry('3')), /"w".*not an object/],
    ['an unknown dtype', fileWith(entry('{"dtype":"F7","shape":[],"data_offsets":[0,4]}'), 4), /"w".*"F7".*F32/],
    ['an inherited dtype', fileWith(entry('{"dtype":"toString","shape":[],"data_offsets":[0,4]}'), 4), /unknown/],
    ['a negative size', fileWith(entry('{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}'), 4), /shape \[-1\]/],
    ['one offset', fileWith(entry('{"dtype":"F32","shape":[],"data_offsets":[0]}'), 4), /data_offsets \[0\]/],
    [
      'a range that does not fit',
      fileWith(entry('{"dtype":"F32","shape":[2],"data_offsets":[0,4]}'), 4),
      /needs 8 bytes/,
    ],
    [
      'a range past the end',
      fileWith(entry('{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'), 4),
      /truncated: tensor "w"/,
    ],
    [
      'an overlap',
      fileWith(
        '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}',
        6,
      ),
      /"b" begins inside "a"/,
    ],
    ['a hole', fileWith(entry('{"dtype":"U8","shape":[2],"data_offsets":[2,4]}'), 4), /2 unused bytes between/],
    ['a tail', fileWith('{}', 3), /3 unused bytes after/],
    ['metadata that is no text', fileWith('{"__metadata__":{"step":3}}'), /"step"/],
    ['metadata that is a list', fileWith('{"__metadata__":[]}'), /__metadata__/],
  ];
  it.each(cases)('with %s is refused by file, tensor and remedy', async (_, bytes, message) => {
    const path = join(root, 'broken.safetensors');
    await writeFile(path, bytes);
    const error = await openSafetensors(path).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: 'safetensors_invalid', category: 'user' });
    expect((error as EngineError).message).toMatch(message);
    expect((error as EngineError).message).toContain(path);
    expect((error as EngineError).hint).toBeTruthy();
  });

  it('that does not exist, or lacks what is asked, is an error by name', async () => {
    await expect(openSafetensors(join(root, 'none'))).rejects.toMatchObject({ code: 'file_missing' });
    await expect(openSafetensors(root)).rejects.toMatchObject({ code: 'file_unreadable' });
    const path = join(root, 'some.safetensors');
    await writeFile(path, fileWith(entry('{"dtype":"I64","shape":[1],"data_offsets":[0,8]}'), 8));
    const reader = await openSafetensors(path);
    await expect(reader.read('v')).rejects.toMatchObject({ code: 'tensor_missing' });
    await expect(reader.read('w')).rejects.toMatchObject({
      code: 'tensor_dtype_unsupported',
      message: expect.stringMatching(/"w" has dtype I64; supported are F32, F16 and BF16/) as string,
    });
    await reader.close();
  });

  it('never fails but by an EngineError, whatever its bytes', async () => {
    const path = join(root, 'fuzz.safetensors');
    await writeSafetensors(path, new Map([['layer.weight', { shape: [2, 3], data: new Float32Array(6) }]]), {
      metadata: { format: 'pt' },
    });
    const good = await readFile(path);
    const mutation = fc.record({
      edits: fc.array(fc.tuple(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 })), { maxLength: 4 }),
      cut: fc.nat({ max: good.length }),
    });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(mutation, async ({ edits, cut }) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of edits) bytes[at] = value;
        await writeFile(path, cut % 2 === 0 ? bytes : bytes.subarray(0, cut));
        const outcome = await readSafetensors(path).catch((caught: unknown) => caught);
        if (outcome instanceof Error) {
          refused++;
          expect(outcome).toBeInstanceOf(EngineError);
        }
      }),
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});

describe('encodeHeader', () => {
  it('keeps a tensor called __proto__', () => {
    const tensors = new Map([['__proto__', { dtype: 'F32', shape: [1], begin: 0, end: 4 }]]);
    expect(new TextDecoder().decode(encodeHeader({ tensors, metadata: {} }))).toContain('"__proto__"');
  });
});
