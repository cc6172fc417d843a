import OpenAI from 'openai';
import { description, model, prompts, report, toolResult } from './report.mjs';

const client = new OpenAI();
const tools = [
  {
    type: 'function',
    name: 'add',
    description,
    strict: false,
    parameters: { type: 'object', properties: { a: { type: 'number' } } },
  },
];

await report({
  plain: async () => (await client.responses.create({ model, input: prompts.plain })).output_text,
  async streamed() {
    let text = '';
    for await (const event of await client.responses.create({ model, stream: true, input: prompts.streamed })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    return text;
  },
  async tool() {
    const first = await client.responses.create({ model, input: prompts.tool, tools });
    const call = first.output.find(({ type }) => type === 'function_call');
    const second = await client.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: toolResult }],
    });
    return { arguments: JSON.parse(call.arguments), answer: second.output_text };
  },
});
