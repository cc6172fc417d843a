// A model without weights, for running this example offline: OpenAI's protocol, deterministic, and only as good as its prompt.
// It does what a ticket needs when its prompt says so, and else says what it was not told. Asked to improve a prompt, it
// writes one such thing into it, and now and then something that does not help. `node scripted-model.mjs` serves it.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

/** What nobody has told the prompts: for the topic of a ticket, and for the manner of its customer. */
export const hidden = {
  sorter: {
    refund: { rule: 'Name the order number.', shows: 'Order number: 4711' },
    outage: { rule: 'Name the service that is down.', shows: 'Service: mail' },
    invoice: { rule: 'Name the month of the invoice.', shows: 'Month: May' },
  },
  writer: {
    hurried: { rule: 'Answer in one sentence when there is hurry.', shows: 'In short: it is done.' },
    worried: { rule: 'Begin with an apology when there is worry.', shows: 'We are sorry.' },
    formal: { rule: 'Use the family name when it is formal.', shows: 'Dear Ms Winter,' },
  },
};

const chance = (...parts) => createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE() / 2 ** 32;
const between = (text, before, after) => text.split(before)[1]?.split(after)[0]?.trim() ?? '';

export function answerOf({ messages, seed = 0 }) {
  const [system = '', user = ''] = ['system', 'user'].map(
    (role) => messages.find((each) => each.role === role)?.content,
  );
  if (user.includes('<critique>')) return edited(user, seed);
  if (user.includes('<prompt>') && user.includes('list of causes')) return critique(user);
  if (user.includes('<prompt>')) return edited(user, seed);
  return worked(user.startsWith('Sort') ? 'sorter' : 'writer', system);
}

/** The work of an agent: as good as what its prompt says. */
function worked(agent, prompt) {
  const needs = Object.entries(hidden[agent]).find(([kind]) => prompt.includes(kind));
  if (needs === undefined) return 'Done.';
  const [, { rule, shows }] = needs;
  return prompt.includes(rule) ? shows : `Done. I was not told: "${rule}"`;
}

/** What the examples show of things that the model was not told about this prompt. */
function missingIn(text) {
  const name = between(text, 'the prompt "', '"');
  const current = between(text, '<prompt>', '</prompt>');
  const rules = Object.values(hidden[name] ?? {}).map(({ rule }) => rule);
  return { current, missing: rules.filter((rule) => text.includes(`not told: "${rule}"`) && !current.includes(rule)) };
}

function critique(text) {
  const { missing } = missingIn(text);
  return missing.length === 0
    ? '- The prompt could be clearer.'
    : missing.map((rule) => `- not told: "${rule}"`).join('\n');
}

function edited(text, seed) {
  const { current, missing } = missingIn(text);
  const helps = missing.length > 0 && chance('helps', seed) < 0.75;
  const added = helps ? missing[Math.floor(chance('which', seed) * missing.length)] : `Take care (${seed % 1000}).`;
  return `Here is a better prompt.\n<prompt>\n${current}\n${added}\n</prompt>`;
}

/**
 * @param options.answer what it says to a request; default: what the script above does. May wait.
 * @returns the base URL for OpenAI clients, and a way to end it
 */
export async function startScriptedModel({ port = 0, answer = answerOf } = {}) {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') {
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] }));
      return;
    }
    const body = JSON.parse(text);
    const content = await answer(body);
    const prompt_tokens = Math.ceil(JSON.stringify(body.messages).length / 4);
    const usage = { prompt_tokens, completion_tokens: Math.ceil(content.length / 4) };
    usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
    const head = { id: `chatcmpl-${Date.now()}`, created: 0, model: 'scripted', usage };
    if (!body.stream) {
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const chunk = (choices) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`;
    response.write(chunk([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]));
    response.end(`${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}data: [DONE]\n\n`);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await startScriptedModel({ port: 4871 });
  console.log(`Serving the scripted model at ${url}`);
}
