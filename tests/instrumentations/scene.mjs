// One attempt in the real gateway: an instrumented agent runs as a process of its own, with the environment that the controller
// would give it, and what came home is read back from the store.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { attemptEnvironment } from '../../packages/agentlightning/dist/rollouts/environment.js';
import { startGateway } from '../../packages/agentlightning/dist/server/testing/started-gateway.js';
import { byteTokenizer } from '../../packages/agentlightning/dist/upstreams/testing/byte-text.js';
import { say, scriptedEngine } from '../../packages/agentlightning/dist/upstreams/testing/scripted-engine.js';

export const answers = {
  toolCall: '<tool_call>\n{"name": "lookup", "arguments": {"city": "Paris"}}\n</tool_call>',
  facts: 'Paris has 2,100,000 inhabitants.',
  report: 'A city of two million.',
};

/** The model: it answers by who is asked, and by whether the tool has spoken. */
function answerOf({ promptIds }) {
  const prompt = byteTokenizer.decode(promptIds);
  if (!prompt.includes('You are the researcher.')) return say(answers.report);
  return say(prompt.includes('2100000') ? answers.facts : answers.toolCall);
}

/** @param {string[]} command program and arguments @param {Record<string, string>} more of the environment */
export async function runScene(command, more = {}) {
  const gateway = await startGateway(scriptedEngine(answerOf));
  try {
    const { attemptId, rolloutId, token } = await gateway.attempt();
    const environment = attemptEnvironment({
      baseUrl: gateway.server.url,
      token,
      rolloutId,
      attemptId,
      attemptNumber: 1,
      model: 'policy',
      taskJson: '{}',
      taskFile: '/dev/null',
    });
    const { PATH, HOME } = process.env;
    const child = spawn(command[0], command.slice(1), {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { PATH, HOME, TRACELOOP_TELEMETRY: 'false', ...environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command.join(' ')} exits with ${code}:\n${output}`);
    const { store } = gateway;
    const [spans, calls, rewards] = await Promise.all([
      store.listSpans(attemptId),
      store.listCalls(attemptId),
      store.listRewards(attemptId),
    ]);
    return { spans, calls, rewards, output };
  } finally {
    await gateway.close();
  }
}
