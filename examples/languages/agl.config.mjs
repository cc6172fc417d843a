import { agents } from './agents.mjs';

const language = process.env.LANGUAGE_OF_AGENT ?? 'python';

export default {
  name: `languages-${language}`,
  agent: agents[language].agent,
  tasks: { train: './tasks.jsonl' },
  grader: 'numeric-match',
  policy: { model: '../calculator/model' },
  sampling: { maxTokens: 64 },
  algorithm: { steps: 2, tasksPerStep: 2, groupSize: 4 },
};
