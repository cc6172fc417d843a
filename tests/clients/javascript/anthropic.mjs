import Anthropic from '@anthropic-ai/sdk';
import { description, model, prompts, report, toolResult } from './report.mjs';

const client = new Anthropic();
const user = (content) => ({ role: 'user', content });
const tools = [{ name: 'add', description, input_schema: { type: 'object', properties: { a: { type: 'number' } } } }];
const settings = { model, max_tokens: 400 };
const textOf = ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join('');

await report({
  plain: async () => textOf(await client.messages.create({ ...settings, messages: [user(prompts.plain)] })),
  async streamed() {
    let text = '';
    const stream = client.messages.stream({ ...settings, messages: [user(prompts.streamed)] });
    stream.on('text', (part) => {
      text += part;
    });
    await stream.finalMessage();
    return text;
  },
  async tool() {
    const messages = [user(prompts.tool)];
    const first = await client.messages.create({ ...settings, messages, tools });
    const call = first.content.find(({ type }) => type === 'tool_use');
    messages.push(
      { role: 'assistant', content: first.content },
      user([{ type: 'tool_result', tool_use_id: call.id, content: toolResult }]),
    );
    return { arguments: call.input, answer: textOf(await client.messages.create({ ...settings, messages, tools })) };
  },
});
