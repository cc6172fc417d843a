import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { model } from './report.mjs';
import { reportWith } from './vercel.mjs';

const provider = createOpenAICompatible({
  name: 'gateway',
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});
await reportWith(provider(model));
