export default {
  agent: { module: './agent.mjs', concurrency: 8 },
  tasks: {
    train: '../calculator/tasks/train.jsonl',
    validation: '../calculator/tasks/validation.jsonl',
    inputFields: ['question'],
  },
  grader: 'numeric-match',
  policy: { name: 'worker', model: '../calculator/model' },
  models: [
    { alias: 'planner', upstream: 'embedded', model: '../calculator/model', agentName: 'planner' },
    { alias: 'critic', upstream: 'embedded', model: '../calculator/model', agentName: 'critic' },
  ],
  sampling: { maxTokens: 48 },
  algorithm: { name: 'grpo', tasksPerStep: 16, groupSize: 8, steps: 40, learningRate: 3e-4, warmupSteps: 5 },
};
