// The AI SDK's own telemetry: `functionId` is its word for the piece of the program, here the agent.
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';
import { shutdown } from './telemetry.mjs';

const model = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL }).chat(process.env.AGL_MODEL);
const telemetry = (functionId) => ({ isEnabled: true, functionId });
const lookup = tool({
  description: 'Number of inhabitants of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, inhabitants: 2_100_000 }),
});

const { text } = await generateText({
  model,
  system: 'You are the researcher.',
  prompt: 'How many people live in Paris?',
  tools: { lookup },
  stopWhen: stepCountIs(3),
  experimental_telemetry: telemetry('researcher'),
});
await generateText({
  model,
  system: 'You are the writer.',
  prompt: text,
  experimental_telemetry: telemetry('writer'),
});
await shutdown();
