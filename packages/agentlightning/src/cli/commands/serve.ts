import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createEmbeddedEngine } from '@agentlightning/engine';
import type { Command } from 'commander';
import { loadConfig } from '../../config/index.ts';
import { UserError } from '../../errors.ts';
import { type Route, Routes, Sessions } from '../../gateway/index.ts';
import { createServer } from '../../server/index.ts';
import { Closing } from '../closing.ts';
import { withStore } from '../find-store.ts';
import { openModelRoutes } from '../model-routes.ts';
import { port } from '../numbers.ts';
import { policyUpstream, runFolder } from '../stack.ts';

interface ServeFlags {
  store: string;
  host: string;
  port: number;
  name: string;
  config?: string;
  json?: boolean;
}

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve a policy as an OpenAI-compatible endpoint')
    .argument('[model]', 'folder of a policy; default: what the newest finished run of --store made')
    .option('--store <file>', 'store of the run whose policy is served', '.agl/store.db')
    .option(
      '--host <address>',
      'address to listen on; any but this machine itself needs the variable AGL_ADMIN_KEY',
      '127.0.0.1',
    )
    .option('--port <n>', 'port to listen on', port, 8080)
    .option('--name <model>', 'model name that clients ask for', 'policy')
    .option('--config <file>', 'serve the "models" of this configuration; without [model], them alone')
    .option('--json', 'print the address as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  agl serve examples/calculator/model\n  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none node my-agent.js\n',
    )
    .action(serve);
}

async function serve(model: string | undefined, flags: ServeFlags): Promise<void> {
  const closing = new Closing();
  try {
    const { routes, what } = await openRoutes(model, flags, closing);
    const [first] = routes;
    if (first === undefined) throw nothingToServe(flags.config ?? '');
    const adminKey = process.env.AGL_ADMIN_KEY;
    const { promise: failed, reject } = withRejection();
    const server = await createServer({
      store: null,
      sessions: new Sessions(),
      routes: new Routes(routes, first.alias),
      host: flags.host,
      port: flags.port,
      serve: {},
      onFatal: reject,
      ...(adminKey ? { adminKey } : {}),
    });
    closing.add(() => server.close());
    const url = `${server.url}/v1`;
    process.stdout.write(
      flags.json
        ? `${JSON.stringify({ url, model: first.alias, ...what })}\n`
        : `Serving ${what.folder ?? 'models'}\n  as ${routes.map(({ alias }) => `"${alias}"`).join(', ')} at ${url}\n  Ctrl-C ends it.\n`,
    );
    await Promise.race([terminated(), failed]);
  } finally {
    await closing.run();
  }
}

/** The policy of `model`, or of the newest run, and the models of a configuration. */
async function openRoutes(
  model: string | undefined,
  flags: ServeFlags,
  closing: Closing,
): Promise<{ routes: Route[]; what: { folder?: string } }> {
  const note = (message: string) => void process.stderr.write(`${message}\n`);
  const routes: Route[] = [];
  const what: { folder?: string } = {};
  if (model !== undefined || flags.config === undefined) {
    const folder = model === undefined ? await newestPolicy(resolve(flags.store)) : resolve(model);
    const engine = await createEmbeddedEngine({ folder, onWarning: note });
    closing.add(() => engine.close());
    await engine.publish(0);
    routes.push({ alias: flags.name, upstream: await policyUpstream(flags.name, engine, folder) });
    what.folder = folder;
  }
  if (flags.config !== undefined) {
    const { config } = await loadConfig(flags.config);
    routes.push(...(await openModelRoutes({ models: config.models, env: process.env, note })));
  }
  return { routes, what };
}

function nothingToServe(config: string): UserError {
  return new UserError({
    code: 'nothing_to_serve',
    message: `${config} names no models.`,
    hint: 'Give the folder of a model, or name models in the configuration.',
  });
}

async function newestPolicy(storePath: string): Promise<string> {
  const runs = await withStore(storePath, (store) => store.listRuns());
  const folder = runs.map(({ id }) => join(runFolder(storePath, id), 'policy')).find((path) => existsSync(path));
  if (folder !== undefined) return folder;
  throw new UserError({
    code: 'no_policy',
    message: `No run of ${storePath} has finished, so there is no trained policy.`,
    hint: 'Train one with `agl train`, or give the folder of a model.',
  });
}

function terminated(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  });
}

function withRejection(): { promise: Promise<never>; reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  return { promise, reject };
}
