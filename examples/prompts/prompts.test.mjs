import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSqliteStore } from 'agentlightning';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerOf, hidden, startScriptedModel } from './scripted-model.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = fileURLToPath(new URL('../../packages/agentlightning/bin/agl.js', import.meta.url));
const limitMs = 120_000;

let folder;
let model;
let children;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-prompts-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  model?.close();
  rmSync(folder, { recursive: true, force: true });
});

const isQuestion = ({ messages }) => messages.some(({ content }) => content.includes('<prompt>'));

function start(...args) {
  const env = { ...process.env, SCRIPTED_MODEL_URL: model.url, AGL_ADMIN_KEY: 'a-key-of-the-test' };
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  return { child, output, ended: once(child, 'close').then(([code]) => ({ code, ...output })) };
}

const store = () => join(folder, 'store.db');
const train = (...more) => start('train', here, '--store', store(), '--json', ...more);
const linesOf = (stdout) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function withStore(look) {
  const opened = await openSqliteStore({ path: store() });
  try {
    return await look(opened);
  } finally {
    await opened.close();
  }
}

/** Of the run itself, without its trials before it. */
const rolloutsOf = (opened) =>
  opened.listRuns().then(async (runs) => {
    const run = runs.find(({ config }) => !('preflightOf' in config));
    return opened.listRollouts({ runId: run.id });
  });

describe('agl train without a policy', () => {
  it('finds what the help desk was not told, confirms it, and gives it to agents at once', {
    timeout: limitMs,
  }, async () => {
    model = await startScriptedModel();
    const { code, stdout, stderr } = await train().ended;
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { metrics } = linesOf(stdout).at(-1);
    expect(metrics).toMatchObject({ before: 0, after: 1, gain: 1, prompts: { verdict: 'improved' } });
    const { sorter, writer } = Object.fromEntries(metrics.prompts.prompts.map((each) => [each.name, each]));
    for (const { rule } of Object.values(hidden.sorter)) expect(sorter.text).toContain(rule);
    for (const { rule } of Object.values(hidden.writer)) expect(writer.text).toContain(rule);
    expect(readFileSync(sorter.file, 'utf8')).toBe(sorter.text);

    await withStore(async (opened) => {
      const versions = (await opened.queryResources({ name: 'sorter' })).items;
      const lineage = versions.find(({ version }) => version === sorter.version)?.content.lineage;
      expect(lineage.parents.every((version) => version < sorter.version)).toBe(true);
      const [latest] = await opened.latestResources(['sorter']);
      expect(latest).toMatchObject({ version: sorter.version, content: { template: sorter.text } });
    });

    const served = start('serve', '--store', store(), '--config', here, '--port', '0', '--json');
    await once(served.child.stdout, 'data');
    const url = new URL(linesOf(served.output.stdout)[0].url);
    const headers = { authorization: 'Bearer a-key-of-the-test' };
    const answer = await fetch(new URL('/agl/v1/prompts/sorter', url), { headers });
    expect(await answer.json()).toMatchObject({ version: sorter.version, template: sorter.text });
    served.child.kill();
    await served.ended;
  });

  it('keeps a budget, the confirmation included', { timeout: limitMs }, async () => {
    let calls = 0;
    model = await startScriptedModel({
      answer: (body) => {
        calls += 1;
        return answerOf(body);
      },
    });
    const { code, stdout } = await train('--set', 'algorithm.budget.calls=150').ended;
    expect(code).toBe(0);
    const { prompts } = linesOf(stdout).at(-1).metrics;
    expect(prompts.ended).toBe('budget_spent');
    // Every rollout makes two calls, so there is nothing that nobody could have known.
    expect(prompts.spent.calls).toBeLessThanOrEqual(150);
    const trials = 6;
    expect(calls).toBe(prompts.spent.calls + trials);
    // What was set aside for it was enough: the outcome is one of a confirmation.
    expect(['improved', 'not_confirmed']).toContain(prompts.verdict);
  });

  it('killed and resumed, evaluates nothing twice and ends the same', { timeout: limitMs }, async () => {
    const few = ['--set', 'algorithm.steps=4', '--set', 'algorithm.paretoTasks=6'];
    let asked = [];
    let hold = null;
    model = await startScriptedModel({
      answer: async (body) => {
        if (isQuestion(body)) {
          asked.push(JSON.stringify(body.messages));
          if (asked.length === 2 && hold !== null) await hold();
        }
        return answerOf(body);
      },
    });
    const whole = linesOf((await train(...few).ended).stdout).at(-1).metrics.prompts;
    const expected = { asked, rollouts: await withStore(async (opened) => (await rolloutsOf(opened)).length) };
    rmSync(folder, { recursive: true });

    asked = [];
    let killed;
    const held = new Promise((resolve) => {
      hold = async () => {
        resolve();
        await killed;
      };
    });
    const first = train(...few);
    killed = first.ended;
    await held; // the second question has been asked and will never be answered to this process
    first.child.kill('SIGKILL');
    await first.ended;
    hold = null;
    const resumed = await start('resume', '--store', store(), '--json').ended;
    expect(resumed.stderr).toBe('');
    const { prompts } = linesOf(resumed.stdout).at(-1).metrics;
    expect(prompts.prompts.map(({ name, text }) => [name, text])).toEqual(
      whole.prompts.map(({ name, text }) => [name, text]),
    );
    expect(prompts.spent.calls).toBe(whole.spent.calls);
    // The one that was under way is asked again, and no other.
    expect(asked).toEqual([...expected.asked.slice(0, 2), ...expected.asked.slice(1)]);
    await withStore(async (opened) => {
      const rollouts = await rolloutsOf(opened);
      expect(rollouts).toHaveLength(expected.rollouts);
      for (const { id } of rollouts) {
        const done = (await opened.listAttempts(id)).filter(({ state }) => state === 'succeeded');
        expect(done).toHaveLength(1);
      }
    });
  });

  it('a critique model that talks nonsense ends the run by name, and nothing is lost', {
    timeout: limitMs,
  }, async () => {
    model = await startScriptedModel({ answer: (body) => (isQuestion(body) ? 'qwer asdf' : answerOf(body)) });
    const { code, stderr } = await train().ended;
    expect(code).toBe(1);
    expect(stderr).toContain('critique_unusable');
    expect(stderr).toContain('critique_unreadable');
    await withStore(async (opened) => {
      const rollouts = await rolloutsOf(opened);
      expect(rollouts.length).toBeGreaterThanOrEqual(16);
      expect(rollouts.every(({ state }) => state === 'succeeded')).toBe(true);
      const [latest] = await opened.latestResources(['sorter']);
      expect(latest.version).toBe(1);
    });
  });

  it('is refused by name where a prompt, a price or a policy is missing', { timeout: limitMs }, async () => {
    model = await startScriptedModel();
    const refused = async (...flags) => (await train(...flags).ended).stderr;
    const [unknown, unpriced, unplaced, untrained] = await Promise.all([
      refused('--set', 'algorithm.prompts=["nobody"]'),
      refused('--set', 'algorithm.budget.money=1', '--store', join(folder, 'other.db')),
      refused('--set', 'prompts.sorter=Sort it.'),
      refused('--set', 'algorithm.name=grpo'),
    ]);
    expect(unknown).toContain('prompt_unknown');
    expect(unpriced).toContain('prices_missing');
    expect(unplaced).toContain('prompt_without_placeholders');
    expect(untrained).toContain('policy is missing');
  });
});
