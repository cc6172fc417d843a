/** The calculator, with one pod an attempt: see docs/kubernetes.md. */
export default {
  agent: {
    kubernetes: {
      image: 'agentlightning-trainer:1',
      command: ['node', '/app/examples/calculator/agent.mjs'],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    },
    concurrency: 16,
    timeoutSeconds: 120,
  },
  tasks: {
    train: '../calculator/tasks/train.jsonl',
    validation: '../calculator/tasks/validation.jsonl',
    inputFields: ['question'],
  },
  grader: 'numeric-match',
  policy: { model: '../calculator/model' },
  sampling: { maxTokens: 48 },
  algorithm: { name: 'grpo', tasksPerStep: 8, groupSize: 8, steps: 5, learningRate: 3e-4 },
  server: { host: '0.0.0.0', port: 8080, publicUrl: 'http://agentlightning-gateway:8080' },
  store: '/state/store.db',
};
