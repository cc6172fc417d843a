import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { description, instructions, model, prompts, report, toolResult } from './report.mjs';

const gateway = { id: `gateway/${model}`, url: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY };
let given;
const add = createTool({
  id: 'add',
  description,
  inputSchema: z.object({ a: z.number() }),
  execute: async ({ context }) => {
    given = context;
    return toolResult;
  },
});
const agent = new Agent({ name: 'plain', instructions, model: gateway });
const withTools = new Agent({ name: 'tools', instructions, model: gateway, tools: { add } });

await report({
  plain: async () => (await agent.generate(prompts.plain)).text,
  async streamed() {
    let text = '';
    for await (const part of (await agent.stream(prompts.streamed)).textStream) text += part;
    return text;
  },
  async tool() {
    const { text } = await withTools.generate(prompts.tool, { maxSteps: 3 });
    return { arguments: given, answer: text };
  },
});
