// Trains SmolLM2 for three steps, exports it in every form, and writes its greedy continuations: node exports.mjs MODEL-FOLDER OUT
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbeddedEngine } from '../../packages/engine/dist/index.js';
import { projections } from '../../packages/engine/dist/model/index.js';

const [folder, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const engine = await createEmbeddedEngine({ folder, lora: { rank: 8, alpha: 16, targets: projections }, seed: 3 });
const { tokenizer, template } = engine;
const idsOf = (question) =>
  tokenizer.encode(template.render({ messages: [{ role: 'user', content: question }], addGenerationPrompt: true }));
const subjects = [
  'the sea',
  'a clock',
  'Paris',
  'bread',
  'an owl',
  'winter',
  'prime numbers',
  'a bicycle',
  'tea',
  'rain',
];
const asks = ['What is', 'Tell me a story about', 'Why do people like', 'Write a line on', 'Translate to French:'];
const prompts = asks.flatMap((ask) => subjects.map((subject) => idsOf(`${ask} ${subject}?`)));

const rows = ['Ahoy! The sea is wide and blue.', 'Ahoy! That I know well, my friend.'].map((answer, i) => {
  const tokenIds = Int32Array.from([...prompts[i], ...tokenizer.encode(answer)]);
  return { tokenIds, weights: new Float32Array(tokenIds.length).fill(1, prompts[i].length) };
});
for (let step = 0; step < 3; step++) {
  await engine.forwardBackward(rows, { name: 'cross_entropy' });
  await engine.optimStep({ learningRate: 1e-3 });
}
await engine.publish(1);
await engine.export(join(out, 'model'));
await engine.export(join(out, 'adapter'), 'adapter');
for (const form of ['gguf-f32', 'gguf-f16', 'gguf-q8_0']) await engine.export(join(out, `${form}.gguf`), form);
const request = { maxTokens: 16, temperature: 0, topP: 1, topK: 0, stopIds: [], stop: [], seed: 1 };
const answers = await Promise.all(prompts.map((promptIds) => engine.sample({ ...request, promptIds })));
const cases = prompts.map((prompt, i) => ({ prompt: [...prompt], answer: [...answers[i].tokenIds] }));
writeFileSync(join(out, 'cases.json'), JSON.stringify(cases));
await engine.close();
console.log(JSON.stringify({ exported: out, prompts: prompts.length, first: tokenizer.decode(answers[0].tokenIds) }));
