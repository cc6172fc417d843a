// LoRA training: tokens per second of forwardBackward + optimStep.
import { ids, median, openEngine, report, setting } from './setting.mjs';

const long = setting.argument === 'long';
const [count, length, steps] = long ? [1, 4096, setting.quick ? 1 : 3] : [8, 256, setting.quick ? 2 : 12];
const engine = await openEngine();
const rows = Array.from({ length: count }, (_, row) => ({
  tokenIds: ids(length + 1, row),
  weights: new Float32Array(length + 1).fill(1 / length, 1),
}));
const seconds = [];
for (let step = 0; step <= steps; step++) {
  const start = performance.now();
  await engine.forwardBackward(rows, { name: 'cross_entropy' });
  await engine.optimStep({ learningRate: 1e-4 });
  if (step > 0 || (long && setting.quick)) seconds.push((performance.now() - start) / 1000); // the first one creates the sessions
}
await engine.close();
const tokens = count * length;
const { hiddenSize, intermediateSize, layers, heads, kvHeads, headSize, vocabularySize } = engine.modelConfig;
const matrices =
  layers * (hiddenSize * headSize * (2 * heads + 2 * kvHeads) + 3 * hiddenSize * intermediateSize) +
  vocabularySize * hiddenSize;
// Forward, and the backward pass to the inputs: twice 2 operations a weight and token, and half of the attention matrix. What is computed
// again for want of memory does not count.
const attention = layers * heads * headSize * length; // 2 products of 2 operations, of which causality leaves half
const flops = tokens * (4 * matrices + 3 * 2 * attention);
report({
  tokensPerSecond: tokens / median(seconds),
  bestTokensPerSecond: tokens / Math.min(...seconds),
  usefulGigaflops: flops / Math.min(...seconds) / 1e9,
});
