export default {
  agent: { module: '../calculator/agent.mjs', concurrency: 8 },
  tasks: {
    train: '../calculator/tasks/train.jsonl',
    validation: '../calculator/tasks/validation.jsonl',
    inputFields: ['question'],
  },
  grader: 'numeric-match',
  policy: { model: '../calculator/model' },
  sampling: { maxTokens: 48 },
  algorithm: { module: './best-of-n.mjs', steps: 20, n: 8, tasksPerStep: 16 },
};
