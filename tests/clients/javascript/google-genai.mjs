import { GoogleGenAI } from '@google/genai';
import { description, model, prompts, report, toolResult } from './report.mjs';

const client = new GoogleGenAI({});
const add = {
  name: 'add',
  description,
  parametersJsonSchema: { type: 'object', properties: { a: { type: 'number' } } },
};
const config = { tools: [{ functionDeclarations: [add] }] };
const user = (text) => ({ role: 'user', parts: [{ text }] });

await report({
  plain: async () => (await client.models.generateContent({ model, contents: prompts.plain })).text,
  async streamed() {
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model, contents: prompts.streamed })) {
      text += chunk.text ?? '';
    }
    return text;
  },
  async tool() {
    const contents = [user(prompts.tool)];
    const first = await client.models.generateContent({ model, contents, config });
    const [call] = first.functionCalls;
    const response = { name: call.name, response: { output: toolResult }, ...(call.id ? { id: call.id } : {}) };
    contents.push(first.candidates[0].content, { role: 'user', parts: [{ functionResponse: response }] });
    return { arguments: call.args, answer: (await client.models.generateContent({ model, contents, config })).text };
  },
});
