import { getPrompt } from '@agentlightning/client';

export default async function solve({ question }) {
  const prompt = await getPrompt('question');
  const { OPENAI_BASE_URL, OPENAI_API_KEY, AGL_MODEL } = process.env;
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: AGL_MODEL, messages: [{ role: 'user', content: prompt.render({ question }) }] }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body.choices[0].message.content;
}
