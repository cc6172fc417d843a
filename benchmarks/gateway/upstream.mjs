// A stand-in for vLLM that costs as little as it can: every answer is prepared. Argument: a JSON file with the answer's tokens.
// POST /v1/completions and /v1/chat/completions; a request with "hold" in it stays open after its first token until POST /release.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { ids, texts, promptIds } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const head = { id: 'cmpl-1', created: 1, model: 'bench' };
const whole = texts.join('');
const usage = {
  prompt_tokens: promptIds.length,
  completion_tokens: ids.length,
  total_tokens: promptIds.length + ids.length,
};
const sse = (body) => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
const done = Buffer.from('data: [DONE]\n\n');
const logProb = (index) => ({ token: `token_id:${ids[index]}`, logprob: -0.5, bytes: null, top_logprobs: [] });

const completionChunks = ids.map((id, index) => {
  const last = index === ids.length - 1;
  const logprobs = { tokens: [`token_id:${id}`], token_logprobs: [-0.5], top_logprobs: [{}], text_offset: [0] };
  const choice = { index: 0, text: texts[index], logprobs, finish_reason: last ? 'stop' : null, token_ids: [id] };
  return sse({ ...head, object: 'text_completion', choices: [choice], ...(last ? { usage } : {}) });
});
const chatChunks = [
  sse({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { role: 'assistant', content: '' } }],
    prompt_token_ids: promptIds,
  }),
  ...ids.map((id, index) => {
    const last = index === ids.length - 1;
    const choice = {
      index: 0,
      delta: { content: texts[index] },
      logprobs: { content: [logProb(index)] },
      finish_reason: last ? 'stop' : null,
      token_ids: [id],
    };
    return sse({ ...head, object: 'chat.completion.chunk', choices: [choice] });
  }),
];
const chatWhole = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: whole },
      logprobs: { content: ids.map((_, index) => logProb(index)) },
      finish_reason: 'stop',
      token_ids: ids,
    },
  ],
  prompt_token_ids: promptIds,
  usage,
});

const held = [];

function stream(response, chunks, hold) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let next = 0;
  const step = () => {
    response.write(chunks[next]);
    next += 1;
    if (hold && next === 2) held.push(() => setImmediate(step));
    else if (next < chunks.length) setImmediate(step);
    else response.end(done);
  };
  step();
}

const json = (response, body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);

createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const text = Buffer.concat(parts).toString();
    const hold = text.includes('"hold"') || text.includes('hold on');
    if (request.url === '/v1/models')
      json(
        response,
        JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model', root: '', max_model_len: 4096 }] }),
      );
    else if (request.url === '/version') json(response, '{"version":"bench"}');
    else if (request.url === '/release') {
      for (const go of held.splice(0)) go();
      json(response, '{}');
    } else if (request.url === '/v1/completions') {
      if (text.includes('"stream":true')) stream(response, completionChunks, hold);
      else
        json(
          response,
          JSON.stringify({
            ...head,
            object: 'text_completion',
            choices: [
              {
                index: 0,
                text: texts[0],
                token_ids: [ids[0]],
                logprobs: { tokens: [`token_id:${ids[0]}`], token_logprobs: [-0.5], top_logprobs: [{}] },
                finish_reason: 'length',
              },
            ],
            usage,
          }),
        );
    } else if (request.url === '/v1/chat/completions') {
      if (/"stream": ?true/.test(text)) stream(response, chatChunks, hold);
      else json(response, chatWhole);
    } else response.writeHead(404).end();
  });
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port);
});
