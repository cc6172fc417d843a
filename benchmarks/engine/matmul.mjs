// The machine's peak: the matrix product of the model's MLP in ONNX Runtime, nothing else running.

import { Tape } from '../../packages/engine/dist/graph/index.js';
import { loadBackend } from '../../packages/engine/dist/host/backend.js';
import { report, setting } from './setting.mjs';

const [m, k, n] = [512, 576, 1536];
const { ort, sessionOptions } = await loadBackend({ force: 'native', threads: setting.threads });
const tape = new Tape();
const a = tape.input('a', 'float32', [m, k]);
const b = tape.input('b', 'float32', [k, n]);
// A row of the product is all that leaves the graph, so no time goes into copying it.
const y = tape.emit('MatMul', [a, b], [m, n]);
tape.output('y', tape.emit('Slice', [y, tape.int64([0]), tape.int64([1]), tape.int64([0])], [1, n]));
const session = await ort.InferenceSession.create(tape.graph.build(), sessionOptions);
const feeds = {
  a: new ort.Tensor('float32', new Float32Array(m * k).fill(0.1), [m, k]),
  b: new ort.Tensor('float32', new Float32Array(k * n).fill(0.1), [k, n]),
};
let best = Number.POSITIVE_INFINITY;
for (let round = 0; round < (setting.quick ? 50 : 2000); round++) {
  const start = performance.now();
  await session.run(feeds);
  best = Math.min(best, performance.now() - start);
}
report({ gigaflops: (2 * m * k * n) / best / 1e6 });
