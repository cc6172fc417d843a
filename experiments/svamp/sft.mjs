// SFT on the right calculations: node sft.mjs {"model", "adapter", "tasks", "out", "steps", "rows", "seed"}
import { createEmbeddedEngine } from '../../packages/engine/dist/index.js';
import { calculationOf, messagesOf, readRows } from './problem.mjs';

const { model, adapter, tasks, out, steps, rows, seed } = JSON.parse(process.argv[2]);
const targets = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const engine = await createEmbeddedEngine({ folder: model, lora: { ...adapter, targets }, seed });
const { tokenizer, template, eosIds } = engine;

const samples = readRows(tasks).map((row) => {
  const prompt = tokenizer.encode(template.render({ messages: messagesOf(row.question), addGenerationPrompt: true }));
  const answer = [...tokenizer.encode(calculationOf(row)), eosIds[0]];
  const tokenIds = Int32Array.from([...prompt, ...answer]);
  return { tokenIds, weights: new Float32Array(tokenIds.length).fill(1, prompt.length), answer: answer.length };
});
let state = seed;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return (state >>> 0) / 2 ** 32;
};
let order = [];
for (let step = 1; step <= steps; step++) {
  const batch = [];
  while (batch.length < rows) {
    if (order.length === 0) order = samples.map((_, i) => i).sort(() => random() - 0.5);
    batch.push(samples[order.pop()]);
  }
  const answered = batch.reduce((all, { answer }) => all + answer, 0);
  const { loss } = await engine.forwardBackward(
    batch.map(({ tokenIds, weights }) => ({ tokenIds, weights: weights.map((weight) => weight / answered) })),
    { name: 'cross_entropy' },
  );
  await engine.optimStep({ learningRate: 2e-4 * Math.min(1, step / 3), maxGradNorm: 1 });
  console.log(`  step ${step}: loss ${loss.toFixed(3)}`);
}
await engine.export(out);
await engine.close();
