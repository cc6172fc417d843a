import OpenAI from 'openai';
import { model, prompts, report } from './report.mjs';

const client = new OpenAI();

/** Raw prompts know no tools: the harness that sends them writes calls and results as text. */
await report({
  plain: async () =>
    (await client.completions.create({ model, prompt: prompts.plain, max_tokens: 200 })).choices[0].text,
  async streamed() {
    let text = '';
    const stream = await client.completions.create({ model, prompt: prompts.streamed, max_tokens: 200, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    return text;
  },
  async tool() {
    const first = await client.completions.create({ model, prompt: prompts.tool, max_tokens: 200 });
    const { text } = first.choices[0];
    const call = JSON.parse(/<tool_call>(.*)<\/tool_call>/s.exec(text)[1]);
    const prompt = `${prompts.tool}${text}<tool_response>result 4242</tool_response>`;
    const second = await client.completions.create({ model, prompt, max_tokens: 200 });
    return { arguments: call.arguments, answer: second.choices[0].text };
  },
});
