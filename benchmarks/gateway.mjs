// npm run bench -- gateway [--calls 2000] [--skip-python]: recorded streaming calls through our gateway, beside a raw proxy, the Python
// project's gateway and LiteLLM, before the same stand-in for vLLM. All in one run; ratios are ours ÷ theirs, more is better.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadTokenizer } from '../packages/engine/dist/text/index.js';
import { printResult } from '../scripts/result.mjs';
import { load, openStreams, percentile } from './gateway/load.mjs';
import { residentBytes, startScript } from './gateway/processes.mjs';
import { startAgentlightning, startLitellm } from './gateway/python-peers.mjs';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '2000' }, 'skip-python': { type: 'boolean', default: false } },
});
const calls = Number(values.calls);
const openCount = 1000;
const concurrency = 32;
const callsPerAttempt = 20;
const folder = mkdtempSync(join(tmpdir(), 'agl-bench-gateway-'));
const children = [];
const metrics = {};
const ratios = {};
const missing = {};

const messages = (content) => [
  { role: 'system', content: 'You are an agent that works with numbers and answers in one sentence.' },
  { role: 'user', content },
];
const chatBody = (stream, content = 'What is 6 * 7?') => ({
  model: 'bench',
  stream,
  max_tokens: 64,
  messages: messages(content),
});
const ended = (text) => text.includes('[DONE]');
const answered = (text) => text.includes('"finish_reason":"stop"');
const round = (value) => Math.round(value * 100) / 100;

/** The answer that the stand-in gives: 32 tokens that our tokenizer can decode. */
async function answerFile() {
  const tokenizer = await loadTokenizer(new URL('../examples/calculator/model', import.meta.url).pathname);
  const sentence = ' the answer is 42 and the sum of 6 and 7 is 13 so we go on with it';
  const ids = [...tokenizer.encode(sentence.repeat(4))].slice(0, 32);
  const file = join(folder, 'answer.json');
  writeFileSync(
    file,
    JSON.stringify({ ids, texts: ids.map((id) => tokenizer.decode([id])), promptIds: [...tokenizer.encode('hi')] }),
  );
  return file;
}

async function measure(name, target) {
  const options = { ...target, concurrency, complete: target.body.stream ? ended : answered };
  await load({ ...options, calls: Math.ceil(calls / 10) });
  const { perSecond } = await load({ ...options, calls });
  const { times } = await load({ ...options, calls: Math.ceil(calls / 4), concurrency: 2 });
  metrics[`${name}_calls_per_second`] = round(perSecond);
  metrics[`${name}_p50_ms`] = round(percentile(times, 0.5));
  metrics[`${name}_p99_ms`] = round(percentile(times, 0.99));
  console.log(
    `${name}: ${round(perSecond)} calls/s; one call p50 ${round(percentile(times, 0.5))} ms, p99 ${round(percentile(times, 0.99))} ms`,
  );
  return perSecond;
}

async function memoryPerStream(name, pid, target, upstreamOrigin) {
  // Before any load: a heap that has grown for other work would hide what the streams take.
  await load({ ...target, body: chatBody(true), calls: 100, concurrency: 4, complete: ended });
  const before = residentBytes(pid);
  if (before === null) return;
  const finish = await openStreams({ ...target, count: openCount });
  const perStream = (residentBytes(pid) - before) / openCount;
  metrics[`${name}_bytes_per_open_stream`] = Math.round(perStream);
  console.log(`${name}: ${Math.round(perStream / 1024)} KiB of memory for each of ${openCount} open streams`);
  await fetch(`${upstreamOrigin}/release`, { method: 'POST' });
  await finish();
}

async function main() {
  const { child: upstreamChild, ready: upstreamPort } = await startScript('upstream.mjs', [await answerFile()]);
  children.push(upstreamChild);
  const upstreamOrigin = `http://127.0.0.1:${upstreamPort}`;
  const chat = { path: () => '/v1/chat/completions', headersOf: () => ({}), body: chatBody(true) };
  const held = chatBody(true, 'hold on');

  await measure('direct', { ...chat, origin: upstreamOrigin });

  const { child: rawChild, ready: rawPort } = await startScript('raw-proxy.mjs', [upstreamPort]);
  children.push(rawChild);
  const raw = { ...chat, origin: `http://127.0.0.1:${rawPort}` };
  await memoryPerStream('raw_proxy', rawChild.pid, { ...raw, body: held }, upstreamOrigin);
  const rawPerSecond = await measure('raw_proxy', raw);

  const attempts = Math.ceil((calls * 2.8) / callsPerAttempt) + openCount / callsPerAttempt + concurrency;
  const { child: oursChild, ready: ours } = await startScript('ours.mjs', [upstreamPort, folder, attempts, 'tokens']);
  children.push(oursChild);
  const headersOf = (index) => ({
    authorization: `Bearer ${ours.tokens[Math.floor(index / callsPerAttempt) % ours.tokens.length]}`,
  });
  const own = { ...chat, origin: `http://127.0.0.1:${ours.port}`, headersOf };
  await memoryPerStream('agl', oursChild.pid, { ...own, body: held }, upstreamOrigin);
  const ownPerSecond = await measure('agl', own);
  const ownJsonPerSecond = await measure('agl_json', { ...own, body: chatBody(false) });
  ratios.raw_proxy = round(ownPerSecond / rawPerSecond);
  const added = (name, share) => metrics[`${name}_${share}_ms`] - metrics[`direct_${share}_ms`];
  for (const share of ['p50', 'p99']) {
    for (const name of ['raw_proxy', 'agl']) metrics[`${name}_added_${share}_ms`] = round(added(name, share));
  }
  ratios.raw_proxy_p99 = round(metrics.raw_proxy_p99_ms / metrics.agl_p99_ms);

  for (const [name, start, stream] of [
    ['agentlightning', startAgentlightning, false],
    ['litellm', startLitellm, true],
  ]) {
    if (values['skip-python']) {
      missing[name] = 'left out by --skip-python';
      continue;
    }
    try {
      const peer = await start(folder, upstreamPort);
      children.push(peer.child);
      const target = {
        origin: `http://127.0.0.1:${peer.port}`,
        path: () => peer.path,
        headersOf: () => peer.headers ?? {},
        body: chatBody(stream),
      };
      const perSecond = await measure(name, target);
      ratios[name] = round(ownPerSecond / perSecond);
      // Like with like: the Python project's gateway has no streams.
      if (!stream) ratios[`${name}_json`] = round(ownJsonPerSecond / perSecond);
      peer.child.kill('SIGKILL');
    } catch (error) {
      missing[name] = error.message.replaceAll(folder, '');
    }
  }
}

try {
  await main();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
printResult({ name: 'gateway', metrics, ratios, missing });
