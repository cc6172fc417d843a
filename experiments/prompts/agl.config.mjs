// The calculator's base model, which is not trained, behind a prompt.
export default {
  agent: { module: './agent.mjs', concurrency: 8 },
  tasks: {
    train: '../../examples/calculator/tasks/train.jsonl',
    validation: '../../examples/calculator/tasks/validation.jsonl',
    inputFields: ['question'],
  },
  grader: 'numeric-match',
  policy: { model: '../../examples/calculator/model' },
  models: [
    {
      alias: 'critic',
      upstream: 'openai',
      url: process.env.SCRIPTED_MODEL_URL ?? 'http://127.0.0.1:4871/v1',
      model: 'scripted',
    },
  ],
  prompts: { question: '{{question}}' },
  sampling: { maxTokens: 48 },
  validation: { tasks: 40 },
  algorithm: { name: 'gepa', steps: 3 },
};
