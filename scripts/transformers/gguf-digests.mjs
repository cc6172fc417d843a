// Compares our reading of a GGUF file with what gguf_digests.py wrote, bit by bit: node gguf-digests.mjs FILE DIGESTS.json
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openGguf } from '../../packages/engine/dist/files/gguf/reader.js';

const [file, digests] = process.argv.slice(2);
const expected = Object.entries(JSON.parse(readFileSync(digests, 'utf8')));
const reader = await openGguf(file);
const formats = {};
for (const [name, digest] of expected) {
  const found = createHash('sha256')
    .update(new Uint8Array((await reader.read(name)).buffer))
    .digest('hex');
  if (found !== digest) throw new Error(`Tensor "${name}" differs.`);
  const format = reader.tensors.get(name).format.name;
  formats[format] = (formats[format] ?? 0) + 1;
}
await reader.close();
if (expected.length !== reader.tensors.size)
  throw new Error(`${reader.tensors.size} tensors, but ${expected.length} digests.`);
console.log(JSON.stringify({ file: file.split('/').at(-1), equalTensors: formats }));
