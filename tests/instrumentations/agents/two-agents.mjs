// A researcher with a tool and a writer, on the plain client. `inSpan` is the instrumentation's way to name a piece of work.
import { createRequire } from 'node:module';

// CommonJS, because instrumentations patch what is loaded through `require`.
const require = createRequire(import.meta.url);

const model = process.env.AGL_MODEL;
const lookup = {
  type: 'function',
  function: {
    name: 'lookup',
    description: 'Number of inhabitants of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** @param {{ agent: Function, tool: Function }} inSpan `(name, details, work) => result of work` */
export async function runTwoAgents(inSpan) {
  const { OpenAI } = require('openai');
  const client = new OpenAI();
  const facts = await inSpan.agent('researcher', async () => {
    const messages = [
      { role: 'system', content: 'You are the researcher.' },
      { role: 'user', content: 'How many people live in Paris?' },
    ];
    const first = await client.chat.completions.create({ model, messages, tools: [lookup] });
    const asked = first.choices[0].message;
    messages.push(asked);
    for (const call of asked.tool_calls) {
      const given = JSON.parse(call.function.arguments);
      const content = await inSpan.tool({ name: 'lookup', id: call.id, given }, async () =>
        JSON.stringify({ city: given.city, inhabitants: 2_100_000 }),
      );
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
    return (await client.chat.completions.create({ model, messages, tools: [lookup] })).choices[0].message.content;
  });
  await inSpan.agent('writer', async () => {
    const messages = [
      { role: 'system', content: 'You are the writer.' },
      { role: 'user', content: facts },
    ];
    await client.chat.completions.create({ model, messages });
  });
}
