import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { countedReward } from './rewards.ts';
import { type Controlled, startControlled } from './testing/controlled.ts';
import { createWorkshop } from './testing/workshop.ts';

/** What an agent might try, from inside of its attempt, to be paid for work that it has not done. */
const workshop = createWorkshop();
let controlled: Controlled;
beforeAll(async () => {
  controlled = await startControlled(
    scriptedEngine(() => say('I do not know.')),
    { api: true, adminKey: 'the-admin-key' },
  );
});
afterAll(async () => {
  await controlled.close();
  workshop.close();
});

const slow = 60_000;
const asAgent = (script: string) => [process.execPath, '--input-type=module', '-e', script];
const key = `const headers = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' };`;

describe('an agent cannot', () => {
  it(
    'read the private part of its task',
    async () => {
      const { output, log } = await controlled.run(
        asAgent(`
          import { readdirSync, readFileSync } from 'node:fs';
          import { dirname, join } from 'node:path';
          ${key}
          const found = [JSON.stringify(process.env)];
          const folder = dirname(process.env.AGL_TASK_FILE);
          for (const name of readdirSync(folder)) found.push(readFileSync(join(folder, name), 'utf8'));
          const tries = ['/agl/v1/store/getTask', '/agl/v1/store/queryTasks', '/agl/v1/tasks/sum', '/agl/v1/store/claimRollouts'];
          const statuses = [];
          for (const path of tries) {
            for (const method of ['GET', 'POST']) {
              const body = method === 'POST' ? JSON.stringify({ id: 'sum', workerId: 'w', limit: 1, leaseMs: 1000 }) : undefined;
              const answer = await fetch(process.env.AGL_ENDPOINT + path, { method, headers, body });
              statuses.push(answer.status);
              found.push(await answer.text());
            }
          }
          console.log(found.join(' '));
          console.log(JSON.stringify({ leaked: found.some((text) => text.includes('s3cret')), sees: found[0].includes('40 + 2'), statuses }));
        `),
      );
      const seen = JSON.parse(output!) as { leaked: boolean; sees: boolean; statuses: number[] };
      expect(seen).toMatchObject({ leaked: false, sees: true });
      expect(seen.statuses.every((status) => status === 403 || status === 404 || status === 405)).toBe(true);
      expect(log).not.toContain('s3cret');
    },
    slow,
  );

  it(
    'reward another attempt, or outbid the grader for its own',
    async () => {
      const other = await controlled.gateway.attempt();
      const ended = await controlled.run(
        asAgent(`
          ${key}
          const url = process.env.AGL_ENDPOINT + '/agl/v1/rewards';
          const give = async (reward) => (await fetch(url, { method: 'POST', headers, body: JSON.stringify(reward) })).status;
          const statuses = [];
          statuses.push(await give({ value: 1, attemptId: '${other.attemptId}' }));
          statuses.push(await give({ value: 1, source: 'grader' }));
          statuses.push(await give({ value: 1 }));
          console.log('wrong ' + JSON.stringify(statuses));
        `),
      );
      expect(ended.output).toBe('wrong [400,400,201]');
      expect(ended.reward).toBe(0);
      const { store } = controlled.gateway;
      expect(await store.listRewards(other.attemptId)).toEqual([]);
      const own = await store.listRewards(ended.attemptId);
      expect(own.map(({ source, value }) => [source, value])).toEqual([
        ['agent', 1],
        ['grader', 0],
      ]);
      expect(countedReward(own)).toBe(0);
    },
    slow,
  );

  it.each(['module', 'command'] as const)(
    'write its own reward into the grader (%s), not even for a moment',
    async (kind) => {
      const file = join(workshop.folder, `${kind}-grader.mjs`);
      const honest = kind === 'module' ? 'export default () => 0;' : 'process.stdin.resume(); console.log(0);';
      const bought = honest.replace('0', '1');
      writeFileSync(file, honest);
      const timeoutSeconds = 20;
      const grader =
        kind === 'module'
          ? { module: file, export: 'default', timeoutSeconds }
          : { command: [process.execPath, file], timeoutSeconds };
      for (const after of [bought, honest]) {
        writeFileSync(file, honest);
        const ended = await controlled.run(
          asAgent(`
            import { writeFileSync } from 'node:fs';
            writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(bought)});
            writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(after)});
            console.log('42');
          `),
          { grader },
        );
        expect(readFileSync(file, 'utf8')).toBe(after);
        expect(ended).toMatchObject({ failure: 'infrastructure grader_changed', reward: null });
        expect(ended.message).toContain(file);
      }
    },
    slow,
  );

  it(
    'take back what it has printed',
    async () => {
      const { log, reward } = await controlled.run(
        asAgent(`
          import { createWriteStream, truncateSync, writeFileSync } from 'node:fs';
          process.stdout.write('I know nothing.\\n', () => {
            for (const path of ['/proc/self/fd/1', '/dev/stdout']) {
              try { truncateSync(path, 0); } catch {}
              try { writeFileSync(path, 'I am right.\\n', { flag: 'w' }); } catch {}
            }
          });
        `),
      );
      expect(log).toContain('I know nothing.');
      expect(reward).toBe(0);
    },
    slow,
  );
});
