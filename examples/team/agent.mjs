// Three agents on one question: a planner drafts, a worker and a critic solve, and the votes are counted. Each calls the model of its name.
import OpenAI from 'openai';
import { calculate, tools } from '../calculator/agent.mjs';

/** One model's way through a question. With `turns: 1` it stops at what it would compute: a plan. */
async function ask(role, question, { turns = 3 } = {}) {
  const client = new OpenAI({ defaultHeaders: { 'x-agl-agent': role } }); // reads OPENAI_BASE_URL and OPENAI_API_KEY
  const messages = [{ role: 'user', content: question }];
  let result = '';
  for (let turn = 0; turn < turns; turn++) {
    const completion = await client.chat.completions.create({ model: role, messages, tools });
    const { message } = completion.choices[0];
    if (!message.tool_calls?.length) return message.content ?? '';
    messages.push(message);
    for (const call of message.tool_calls) {
      result = calculate(call);
      messages.push({ role: 'tool', tool_call_id: call.id, content: result });
    }
  }
  return turns === 1 ? result : '';
}

export default async function solve({ question }) {
  const plan = await ask('planner', question, { turns: 1 });
  const answers = [await ask('worker', question)];
  const check = await ask('critic', question);
  // A critic who disagrees sends the worker back to work.
  if (check !== answers[0]) answers.push(await ask('worker', question));
  return mostVoted([...answers.reverse(), plan, check]);
}

/** Of answers with equally many votes the first: the worker's last one. */
export function mostVoted(votes) {
  const count = (answer) => votes.filter((vote) => vote === answer).length;
  return votes.reduce((best, answer) => (count(answer) > count(best) ? answer : best));
}
