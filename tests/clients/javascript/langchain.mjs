import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { description, prompts, report, toolResult } from './report.mjs';

const textOf = ({ content }) =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The same three conversations with any chat model of LangChain. */
export async function reportWith(chat) {
  const add = tool(() => toolResult, { name: 'add', description, schema: z.object({ a: z.number() }) });
  await report({
    plain: async () => textOf(await chat.invoke(prompts.plain)),
    async streamed() {
      let text = '';
      for await (const chunk of await chat.stream(prompts.streamed)) text += textOf(chunk);
      return text;
    },
    async tool() {
      const withTools = chat.bindTools([add]);
      const messages = [new HumanMessage(prompts.tool)];
      const first = await withTools.invoke(messages);
      const [call] = first.tool_calls;
      messages.push(first, await add.invoke(call));
      return { arguments: call.args, answer: textOf(await withTools.invoke(messages)) };
    },
  });
}
