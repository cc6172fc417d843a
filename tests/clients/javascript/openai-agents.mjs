import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';
import { description, instructions, model, prompts, report, toolResult } from './report.mjs';

let given;
const add = tool({
  name: 'add',
  description,
  parameters: z.object({ a: z.number() }),
  execute: (parameters) => {
    given = parameters;
    return toolResult;
  },
});
const plainAgent = new Agent({ name: 'plain', model, instructions });
const toolAgent = new Agent({ name: 'tools', model, instructions, tools: [add] });

await report({
  plain: async () => (await run(plainAgent, prompts.plain)).finalOutput,
  async streamed() {
    const result = await run(plainAgent, prompts.streamed, { stream: true });
    let text = '';
    for await (const part of result.toTextStream()) text += part;
    return text;
  },
  async tool() {
    const { finalOutput } = await run(toolAgent, prompts.tool);
    return { arguments: given, answer: finalOutput };
  },
});
