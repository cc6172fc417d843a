// The calculator agent for word problems: the model writes a calculation, the agent works it out.
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { calculate, messagesOf } from './problem.mjs';

const examples = process.env.SVAMP_EXAMPLES ? JSON.parse(readFileSync(process.env.SVAMP_EXAMPLES, 'utf8')) : [];

export default async function solve(task) {
  const client = new OpenAI({ timeout: 600_000, maxRetries: 0 });
  const messages = messagesOf(task.question, examples);
  const completion = await client.chat.completions.create({ model: 'policy', messages });
  return calculate(completion.choices[0].message.content ?? '');
}
