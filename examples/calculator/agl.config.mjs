export default {
  agent: { module: './agent.mjs', concurrency: 8 },
  tasks: { train: './tasks/train.jsonl', validation: './tasks/validation.jsonl', inputFields: ['question'] },
  grader: 'numeric-match',
  policy: { model: './model' },
  sampling: { maxTokens: 48 },
  algorithm: { name: 'grpo', tasksPerStep: 16, groupSize: 8, steps: 50, learningRate: 3e-4, warmupSteps: 5 },
};
