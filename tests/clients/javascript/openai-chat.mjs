import OpenAI from 'openai';
import { description, model, prompts, report, toolResult } from './report.mjs';

const client = new OpenAI();
const user = (content) => ({ role: 'user', content });
const tools = [
  {
    type: 'function',
    function: { name: 'add', description, parameters: { type: 'object', properties: { a: { type: 'number' } } } },
  },
];

await report({
  async plain() {
    const answer = await client.chat.completions.create({ model, messages: [user(prompts.plain)] });
    return answer.choices[0].message.content;
  },
  async streamed() {
    let text = '';
    const stream = await client.chat.completions.create({ model, stream: true, messages: [user(prompts.streamed)] });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  async tool() {
    const messages = [user(prompts.tool)];
    const first = await client.chat.completions.create({ model, messages, tools });
    const [call] = first.choices[0].message.tool_calls;
    messages.push(first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: toolResult });
    const second = await client.chat.completions.create({ model, messages, tools });
    return { arguments: JSON.parse(call.function.arguments), answer: second.choices[0].message.content };
  },
});
