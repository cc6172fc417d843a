// A help desk of two agents, each with a prompt that stands in the store: one sorts a ticket, one writes the reply.
import { getPrompt } from '@agentlightning/client';

export default async function answer({ ticket }) {
  const notes = await ask('sorter', { ticket }, 'Sort it.');
  const reply = await ask('writer', { ticket, notes }, 'Write the reply.');
  return `${notes}\n${reply}`;
}

/** One call of the model, under the name of the agent that makes it. */
async function ask(name, values, request) {
  const prompt = await getPrompt(name);
  const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
  const messages = [
    { role: 'system', content: prompt.render(values) },
    { role: 'user', content: request },
  ];
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${OPENAI_API_KEY}`,
      'x-agl-agent': name,
    },
    body: JSON.stringify({ model: process.env.AGL_MODEL ?? 'scripted', messages }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body.choices[0].message.content;
}
