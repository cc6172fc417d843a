import { chmodSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StartedGateway, startGateway } from '../server/testing/started-gateway.ts';
import type { Task } from '../store/types.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { checkAgent, checkGrader } from './checks.ts';
import type { GraderSpec } from './graders/spec.ts';
import { runPreflight } from './preflight.ts';
import type { AgentSpec, CommandAgent } from './runners/runner.ts';
import { createWorkshop } from './testing/workshop.ts';

const workshop = createWorkshop();
afterAll(() => workshop.close());

const ofCommand = (command: CommandAgent['command'], timeoutSeconds = 20): CommandAgent => ({
  command,
  output: 'stdout-last-line',
  timeoutSeconds,
  graceSeconds: 1,
  cwd: workshop.folder,
});

describe('checkAgent', () => {
  const ofModule = (module: string, name = 'default'): AgentSpec => ({ module, export: name, timeoutSeconds: 20 });

  it('accepts what can run', async () => {
    await checkAgent(ofModule(workshop.write('export const solve = () => 1;'), 'solve'));
    await checkAgent(ofCommand('A=1 cd / && true'));
    await checkAgent(ofCommand('"$SHELL" -c true'));
    await checkAgent(ofCommand(['node', 'x']));
  });

  it.each<[string, () => AgentSpec, string, string | RegExp]>([
    [
      'a module that is not there',
      () => ofModule('/no/agent.mjs'),
      'agent_module_missing',
      'There is no agent module at /no/agent.mjs, or it cannot be read.',
    ],
    [
      'a module that throws',
      () => ofModule(workshop.write('throw new Error("no key");')),
      'agent_module_failed',
      /: Error: no key/,
    ],
    [
      'a module without the function',
      () => ofModule(workshop.write('export const run = () => 1;')),
      'agent_export_missing',
      /cannot be used as the agent: its export "default" is missing; it exports run$/,
    ],
    [
      'an unknown program in a shell command',
      () => ofCommand('pyhton agent.py --fast'),
      'agent_command_not_found',
      'The agent\'s command cannot be run: there is no program "pyhton" on the PATH.',
    ],
    [
      'an unknown program in a list',
      () => ofCommand(['pyhton', 'agent.py']),
      'agent_command_not_found',
      'The agent\'s command cannot be run: there is no program "pyhton" on the PATH.',
    ],
    [
      'a script that is not there',
      () => ofCommand(['./agent.sh']),
      'agent_command_not_found',
      /there is no executable file \/.*\/agent\.sh\.$/,
    ],
    [
      'a script that is not executable',
      () => ofCommand(`./${basename(workshop.write('echo', 'sh'))}`),
      'agent_command_not_found',
      /there is no executable file .*\.sh\.$/,
    ],
  ])('refuses %s', async (_, agent, code, message) => {
    await expect(checkAgent(agent())).rejects.toMatchObject({
      code,
      category: 'user',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      hint: expect.stringMatching(/agent\.(module|export|command)/),
    });
  });

  it('accepts a script when it is executable', async () => {
    const script = workshop.write('#!/bin/sh\necho', 'sh');
    chmodSync(script, 0o700);
    await checkAgent(ofCommand([`./${basename(script)}`]));
  });
});

describe('checkGrader', () => {
  it('accepts what can run', async () => {
    await checkGrader('numeric-match');
    await checkGrader({ rewardFrom: 'agent' });
    await checkGrader({ command: 'cat', timeoutSeconds: 1 });
  });

  it.each<[GraderSpec, string, RegExp]>([
    [
      { module: '/no/grader.mjs', export: 'default', timeoutSeconds: 1 },
      'grader_module_missing',
      /^There is no grader module at \/no\/grader\.mjs/,
    ],
    [
      { command: ['no-such-grader'], timeoutSeconds: 1 },
      'grader_command_not_found',
      /^The grader's command cannot be run: there is no program "no-such-grader"/,
    ],
  ])('refuses %j', async (grader, code, message) => {
    await expect(checkGrader(grader)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe('runPreflight', () => {
  let gateway: StartedGateway;
  beforeEach(async () => {
    gateway = await startGateway(scriptedEngine(() => say('4')));
  });
  afterEach(() => gateway.close());

  const tasks: Task[] = ['1', '2', '3', '4'].map((id) => ({ id, input: { question: id }, private: { answer: 4 } }));
  let ids = 0;
  const preflight = (agent: AgentSpec, grader: GraderSpec = 'numeric-match') =>
    runPreflight({
      agent,
      grader,
      tasks,
      store: gateway.store,
      sessions: gateway.sessions,
      baseUrl: gateway.server.url,
      model: 'policy',
      runId: 'run',
      seed: 1,
      newId: () => `${++ids}`,
    });
  const calling = (after = ''): AgentSpec => ({
    module: workshop.write(`
      export default async ({ question }) => {
        const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
          body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: question }] }),
        });
        const answer = (await response.json()).choices[0].message.content;
        ${after}
        return answer;
      };`),
    export: 'default',
    timeoutSeconds: 20,
  });

  it('is content with three tasks that go the whole way, and can be repeated', async () => {
    expect(await preflight(calling())).toEqual([expect.stringContaining('got the same reward, 1')]);
    expect(await preflight(calling())).toEqual([expect.stringContaining('got the same reward, 1')]);
    const rollouts = await gateway.store.listRollouts({ runId: 'run-preflight' });
    expect(rollouts.map((rollout) => rollout.taskId)).toEqual(['1', '2', '3', '1', '2', '3']);
    expect(await gateway.store.listRollouts({ runId: 'run' })).toEqual([]);
  });

  it.each<[string, () => AgentSpec, GraderSpec | undefined, string, string]>([
    [
      'crashes every time',
      () => ofCommand('echo "no module named openai" >&2; exit 1'),
      undefined,
      'preflight_exit_code',
      'All 3 trial task(s) failed in the same way (exit_code): The agent ended with exit code 1. It never called the model.\nThe end of the output:\n  | no module named openai',
    ],
    [
      'never calls the model',
      () => ofCommand('echo 4'),
      undefined,
      'agent_never_called_model',
      'The agent ran 3 trial task(s) without one call to the model at',
    ],
    [
      'is too slow every time',
      () => ofCommand('sleep 1000', 0.2),
      undefined,
      'preflight_run_timeout',
      'All 3 trial task(s) failed in the same way (run_timeout): The agent ran longer than 0.2 s. It never called the model.\n(There was no output.)',
    ],
    [
      'cannot be graded: the grader throws',
      calling,
      { command: 'echo "no table" >&2; exit 1', timeoutSeconds: 20 },
      'preflight_grader_crash',
      'All 3 trial task(s) failed in the same way (grader_crash): The grader ended with exit code 1.\nThe end of the output:\n  | no table',
    ],
    [
      'cannot be graded: the grader gives NaN',
      calling,
      { command: 'echo NaN', timeoutSeconds: 20 },
      'preflight_grader_not_finite',
      'All 3 trial task(s) failed in the same way (grader_not_finite): The grader gave string "NaN", not a finite number.',
    ],
  ])('stops an agent that %s', async (_, agent, grader, code, message) => {
    await expect(preflight(agent(), grader)).rejects.toMatchObject({
      code,
      category: 'user',
      message: expect.stringContaining(message),
    });
  });

  it('only notes what does not concern all', async () => {
    const notes = await preflight(calling('if (question === "2") throw new Error("bad luck");'));
    expect(notes).toEqual(['1 of 3 trial tasks failed, first: The agent threw: Error: bad luck']);
    expect(await preflight(calling(), { rewardFrom: 'agent' })).toEqual(['3 of 3 trial tasks ended without a reward.']);
  });
});
