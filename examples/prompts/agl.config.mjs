const url = process.env.SCRIPTED_MODEL_URL ?? 'http://127.0.0.1:4871/v1';

export default {
  agent: { module: './agent.mjs', concurrency: 4 },
  tasks: { train: './tasks/train.jsonl', validation: './tasks/validation.jsonl', inputFields: ['ticket'] },
  grader: { module: './grader.mjs' },
  models: [{ alias: 'scripted', upstream: 'openai', url, model: 'scripted' }],
  prompts: { sorter: { file: './prompts/sorter.md' }, writer: { file: './prompts/writer.md' } },
  algorithm: { name: 'gepa', steps: 60 },
};
