import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { AgentLightningError, UserError } from '../../errors.ts';

/** The examples: in the published package beside `dist`, in a checkout where they are developed. */
const templateFolders = ['../../../templates/', '../../../../../examples/'].map(
  (path) => new URL(path, import.meta.url),
);
const files = ['agent.mjs', 'agl.config.mjs', 'tasks', 'model'];
const algorithmFile = 'best-of-n.mjs';

export function registerInit(program: Command): void {
  program
    .command('init')
    .description('start a project from the calculator example: an agent, tasks, a small policy and a configuration')
    .argument('[folder]', 'where to put it; must be empty or new', '.')
    .option('--algorithm', `with a training algorithm of your own in ${algorithmFile}, to change`)
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', '\nExample:\n  agl init my-agent && cd my-agent && npm install && npx agl train\n')
    .action(init);
}

async function init(folder: string, flags: { algorithm?: boolean; json?: boolean }): Promise<void> {
  const target = resolve(folder);
  await assertEmpty(target);
  const template = templateFolders.find((candidate) => existsSync(new URL('calculator/', candidate)));
  if (template === undefined) {
    throw new AgentLightningError({
      code: 'template_missing',
      message: 'The example that projects start from is not part of this installation.',
      hint: 'Install the package again.',
    });
  }
  await mkdir(target, { recursive: true });
  for (const name of files) await cp(new URL(`calculator/${name}`, template), join(target, name), { recursive: true });
  if (flags.algorithm) await writeAlgorithm(new URL('best-of-n/', template), target);
  const written = flags.algorithm ? [...files, algorithmFile] : files;
  const zod = flags.algorithm ? { zod: '^4.0.0' } : {};
  const dependencies = { agentlightning: '^0.1.0', openai: '^6.49.0', ...zod };
  const manifest = { private: true, type: 'module', dependencies };
  await writeFile(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(target, '.gitignore'), 'node_modules/\n.agl/\n');
  if (flags.json) process.stdout.write(`${JSON.stringify({ folder: target, files: ['package.json', ...written] })}\n`);
  else process.stdout.write(nextSteps(target, written));
}

/** The example's algorithm, and its configuration with the calculator's files beside it. */
async function writeAlgorithm(example: URL, target: string): Promise<void> {
  await cp(new URL(algorithmFile, example), join(target, algorithmFile));
  const config = await readFile(new URL('agl.config.mjs', example), 'utf8');
  await writeFile(join(target, 'agl.config.mjs'), config.replaceAll('../calculator/', './'));
}

async function assertEmpty(target: string): Promise<void> {
  const present = existsSync(target) ? await readdir(target) : [];
  if (present.length === 0) return;
  throw new UserError({
    code: 'folder_not_empty',
    message: `${target} is not empty (${present.slice(0, 3).join(', ')}${present.length > 3 ? ', …' : ''}).`,
    hint: 'Give a new folder: agl init my-agent',
  });
}

function nextSteps(target: string, written: readonly string[]): string {
  const place = relative(process.cwd(), target);
  return [
    `Wrote ${written.join(', ')} to ${target}`,
    'Next:',
    ...(place === '' ? [] : [`  cd ${place}`]),
    '  npm install',
    '  npx agl train          trains the policy in model/ on tasks/train.jsonl',
    '  npx agl serve          serves what was trained',
    'Then put your own agent in agent.mjs and your own tasks in tasks/.',
    ...(written.includes(algorithmFile) ? [`The training algorithm is ${algorithmFile}: change it as you like.`] : []),
    '',
  ].join('\n');
}
