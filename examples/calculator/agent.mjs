// A plain agent: the official OpenAI client and one tool. It knows nothing of Agent Lightning.
// As a program:  AGL_TASK='{"question":"What is 3 times 14?"}' node agent.mjs      As a module:  import solve from './agent.mjs'
import { pathToFileURL } from 'node:url';
import OpenAI from 'openai';

export const tools = [
  {
    type: 'function',
    function: {
      name: 'calculator',
      description: 'Evaluates an arithmetic expression of numbers, + - * / and parentheses.',
      parameters: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
    },
  },
];

/** The calculator. Mistakes come back as text, so that the model can see them. */
export function calculate(call) {
  try {
    const { expression } = JSON.parse(call.function.arguments);
    if (!/^[\d+\-*/(). ]{1,80}$/.test(expression)) return 'error: only numbers, + - * / and parentheses';
    const value = Function(`"use strict"; return (${expression});`)();
    return Number.isFinite(value) ? String(Math.round(value * 1e6) / 1e6) : 'error: not a number';
  } catch {
    return 'error: not an expression';
  }
}

export default async function solve(task) {
  const client = new OpenAI(); // reads OPENAI_BASE_URL and OPENAI_API_KEY
  const model = process.env.OPENAI_MODEL ?? 'policy';
  const messages = [{ role: 'user', content: task.question }];
  for (let turn = 0; turn < 3; turn++) {
    const completion = await client.chat.completions.create({ model, messages, tools });
    const { message } = completion.choices[0];
    if (!message.tool_calls?.length) return message.content ?? '';
    messages.push(message);
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: calculate(call) });
  }
  return '';
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await solve(JSON.parse(process.env.AGL_TASK ?? '{}')));
}
