import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runAgl, startAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

const slow = 120_000;

it(
  'trains a function of agl.config, and goes on with it after kill -9',
  async () => {
    const project = await tinyProject({ checkpoints: { every: 1 } }, { gateAfter: 20 });
    const config = JSON.parse(project.read('agl.config.json')) as { agent: { env: Record<string, string> } };
    rmSync(project.file('agl.config.json'));
    const { env } = config.agent;
    const module = `
      import { existsSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      let answered = 0;
      export async function run(task, { openai, model }) {
        while (!existsSync(${JSON.stringify(env.GATE)}) && answered >= 20) await setTimeout(20);
        const response = await fetch(openai.baseURL + '/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer ' + openai.apiKey },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: task.question }] }),
        });
        answered += 1;
        return (await response.json()).choices[0].message.content;
      }`;
    project.write('agent-function.mjs', module);
    project.write(
      'agl.config.mjs',
      `import { run } from './agent-function.mjs';
      export default { ...${JSON.stringify(config)}, agent: { run, concurrency: 2 } };`,
    );
    const first = startAgl(['train', project.folder, '--json']);
    await first.line(/"kind":"checkpoint","step":1/);
    first.child.kill('SIGKILL');
    await first.ended;
    project.openGate();
    const without = await runAgl(['resume', '--store', project.store, '--json']);
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('agl resume --config') as string });
    const second = await runAgl(['resume', '--store', project.store, '--config', project.folder, '--json']);
    expect(second).toMatchObject({ code: 0, stderr: '' });
  },
  slow,
);
