import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { description, prompts, report, toolResult } from './report.mjs';

/** The same three conversations with any provider of Vercel's SDK. */
export async function reportWith(languageModel) {
  let given;
  const add = tool({
    description,
    inputSchema: z.object({ a: z.number() }),
    execute: (input) => {
      given = input;
      return toolResult;
    },
  });
  await report({
    plain: async () => (await generateText({ model: languageModel, prompt: prompts.plain })).text,
    async streamed() {
      let text = '';
      for await (const part of streamText({ model: languageModel, prompt: prompts.streamed }).textStream) text += part;
      return text;
    },
    async tool() {
      const { text } = await generateText({
        model: languageModel,
        prompt: prompts.tool,
        tools: { add },
        stopWhen: stepCountIs(3),
      });
      return { arguments: given, answer: text };
    },
  });
}
