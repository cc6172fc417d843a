// Makes the base model of this example from generated text:  node make-base-model.mjs [--steps 1500] [--out model]
// It reads lessons of an unreliable pupil (lessons.mjs), and never a question of the validation tasks.
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  ChatTemplate,
  createEmbeddedEngine,
  createTokenizer,
  defaultChatTemplate,
  initParameters,
  saveModelFolder,
  trainTokenizer,
} from '@agentlightning/engine';
import { calculate, tools } from './agent.mjs';
import { lesson, pupilExpression, scribbleExpression } from './lessons.mjs';
import { makeTasks } from './make-tasks.mjs';
import { makeProblem, makeScribble, seededRandom } from './problems.mjs';

const { values: flags } = parseArgs({
  options: { steps: { type: 'string', default: '1500' }, out: { type: 'string', default: 'model' } },
});
const steps = Number(flags.steps);
const out = new URL(`${flags.out}/`, import.meta.url).pathname;
const lessonsPerStep = 48;
/** Lessons without sense, which keep the form stable on words that the model has never seen. */
const scribbleShare = 0.35;
/** The pupil's own words count fully; the rest of the text, a little, so that the model also learns to read. */
const readingWeight = 0.15;

const heldOut = new Set(makeTasks().validation.map((task) => task.question));
const random = seededRandom(7);
const answerOf = (expression) => calculate({ function: { arguments: JSON.stringify({ expression }) } });

function nextLesson() {
  if (random() < scribbleShare) {
    const scribble = makeScribble(random);
    return lesson({ ...scribble, expression: scribbleExpression(scribble, random) }, random, answerOf);
  }
  for (;;) {
    const problem = makeProblem(random);
    if (heldOut.has(problem.question)) continue;
    return lesson({ ...problem, expression: pupilExpression(problem, random) }, random, answerOf);
  }
}

const template = new ChatTemplate(defaultChatTemplate);
const special = ['<|pad|>', '<|im_start|>', '<|im_end|>'];
const sample = Array.from({ length: 6000 }, () => template.render({ messages: nextLesson(), tools }));
const files = {
  ...trainTokenizer(sample, {
    vocabularySize: 1024,
    specialTokens: special,
    markerTokens: ['<tool_call>', '</tool_call>'],
    eosToken: '<|im_end|>',
    padToken: '<|pad|>',
  }),
  'chat_template.jinja': defaultChatTemplate,
};
const tokenizer = createTokenizer(JSON.parse(files['tokenizer.json']), JSON.parse(files['tokenizer_config.json']));

/** Token ids and weights of one lesson. Answers are told apart by rendering with and without them. */
function row(messages) {
  const ids = [];
  const weights = [];
  let text = '';
  messages.forEach((message, index) => {
    const add = (upTo, weight) => {
      const added = tokenizer.encode(upTo.slice(text.length));
      ids.push(...added);
      weights.push(...added.map(() => weight));
      text = upTo;
    };
    if (message.role === 'assistant') {
      add(template.render({ messages: messages.slice(0, index), tools, addGenerationPrompt: true }), readingWeight);
    }
    add(
      template.render({ messages: messages.slice(0, index + 1), tools }),
      message.role === 'assistant' ? 1 : readingWeight,
    );
  });
  weights[0] = 0;
  return { tokenIds: Int32Array.from(ids), weights: Float32Array.from(weights) };
}

const config = {
  vocabularySize: tokenizer.vocabularySize,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headSize: 32,
  intermediateSize: 352,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 512,
};
await saveModelFolder(out, {
  config,
  parameters: initParameters(config, 1),
  tokenizerFiles: new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])),
  eosIds: [...tokenizer.eosIds],
});

const engine = await createEmbeddedEngine({ folder: out });
const started = Date.now();
for (let step = 1; step <= steps; step++) {
  const rows = Array.from({ length: lessonsPerStep }, () => row(nextLesson()));
  const total = rows.reduce((sum, { weights }) => sum + weights.reduce((a, b) => a + b, 0), 0);
  for (const { weights } of rows) for (let index = 0; index < weights.length; index++) weights[index] /= total;
  const { loss } = await engine.forwardBackward(rows, { name: 'cross_entropy' });
  const learningRate = 2e-3 * Math.min(1, step / 50) * Math.max(0.05, 1 - step / steps);
  await engine.optimStep({ learningRate, beta2: 0.98, weightDecay: 0.01, maxGradNorm: 1 });
  if (step % 100 === 0) {
    console.log(`step ${step}/${steps}  loss ${loss.toFixed(3)}  ${Math.round((Date.now() - started) / 1000)} s`);
  }
}
await rm(out, { recursive: true });
await engine.export(out);
await engine.close();
console.log(`Wrote ${out}`);
