/** The agent in TypeScript: a function, called in a warm process. */
interface Task {
  question: string;
}

interface Answer {
  choices: { message: { content: string } }[];
}

export default async function solve({ question }: Task, { signal }: { signal: AbortSignal }): Promise<string> {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({
      model: process.env.AGL_MODEL,
      messages: [{ role: 'user', content: `${question} Answer with a number.` }],
    }),
  });
  if (!response.ok) throw new Error(`the model answered with status ${response.status}`);
  const answer = (await response.json()) as Answer;
  return answer.choices[0]?.message.content ?? '';
}
