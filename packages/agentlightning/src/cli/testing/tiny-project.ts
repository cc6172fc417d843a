import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultChatTemplate, initParameters, saveModelFolder, trainTokenizer } from '@agentlightning/engine';
import type { ConfigInput } from '../../config/index.ts';

const modelConfig = {
  hiddenSize: 32,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headSize: 16,
  intermediateSize: 64,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 128,
};

/** One call, by plain HTTP; notes the id of every answer that reached it, and waits at the project's gate. */
const agent = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
const { ACKNOWLEDGED, GATE, GATE_AFTER = 'Infinity' } = process.env;
const acknowledged = () => (existsSync(ACKNOWLEDGED) ? readFileSync(ACKNOWLEDGED, 'utf8').split('\\n').length - 1 : 0);
export default async function solve(task) {
  while (!existsSync(GATE) && acknowledged() >= Number(GATE_AFTER)) await setTimeout(20);
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: task.question }], max_tokens: 6 }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  appendFileSync(ACKNOWLEDGED, body.id + '\\n');
  return body.choices[0].message.content;
}
`;

/** Rewards short answers: something that a random model varies in and can learn. */
const grader = `export default ({ output }) => 1 / (1 + output.length);`;

export interface TinyProject {
  folder: string;
  /** The store's file. */
  store: string;
  file(name: string): string;
  write(name: string, content: string): void;
  read(name: string): string;
  openGate(): void;
}

export interface TinyProjectOptions {
  /** Agents wait after so many answered calls until the gate is opened: what is killed then is surely unfinished. */
  gateAfter?: number;
}

/** A whole project in a temporary folder: a random model of 30 thousand weights, an agent, a grader, 6 tasks. */
export async function tinyProject(
  changes: Partial<ConfigInput> = {},
  { gateAfter }: TinyProjectOptions = {},
): Promise<TinyProject> {
  const folder = mkdtempSync(join(tmpdir(), 'agl-project-'));
  const file = (name: string) => join(folder, name);
  const write = (name: string, content: string) => writeFileSync(file(name), content);
  await writeModel(file('model'));
  write('agent.mjs', agent);
  write('grader.mjs', grader);
  const rows = Array.from({ length: 6 }, (_, index) => ({
    id: `t${index}`,
    question: `say ${index}`,
    answer: `${index}`,
  }));
  write('train.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  write('validation.jsonl', `${JSON.stringify({ id: 'v0', question: 'say 9', answer: '9' })}\n`);
  const config: ConfigInput = {
    agent: {
      module: './agent.mjs',
      concurrency: 2,
      env: {
        ACKNOWLEDGED: file('acknowledged'),
        GATE: file('gate'),
        ...(gateAfter === undefined ? {} : { GATE_AFTER: `${gateAfter}` }),
      },
    },
    tasks: { train: './train.jsonl', validation: './validation.jsonl' },
    grader: { module: './grader.mjs' },
    policy: { model: './model', threads: 1 },
    sampling: { maxTokens: 6 },
    algorithm: { name: 'grpo', steps: 4, tasksPerStep: 2, groupSize: 4, learningRate: 1e-3 },
    checkpoints: { every: 2 },
    ...changes,
  };
  write('agl.config.json', JSON.stringify(config));
  const read = (name: string) => readFileSync(file(name), 'utf8');
  return { folder, store: file('.agl/store.db'), file, write, read, openGate: () => write('gate', '') };
}

async function writeModel(folder: string): Promise<void> {
  const files = trainTokenizer(['say 0 1 2 3'], {
    vocabularySize: 300,
    specialTokens: ['<|pad|>', '<|im_start|>', '<|im_end|>'],
    eosToken: '<|im_end|>',
    padToken: '<|pad|>',
  });
  const config = { ...modelConfig, vocabularySize: 300 };
  await saveModelFolder(folder, {
    config,
    parameters: initParameters(config, 1),
    tokenizerFiles: new Map(
      Object.entries({ ...files, 'chat_template.jinja': defaultChatTemplate }).map(([name, text]) => [
        name,
        Buffer.from(text),
      ]),
    ),
    eosIds: [2],
  });
}
