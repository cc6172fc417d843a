import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createEmbeddedEngine, isHubReference, modelFolder } from '@agentlightning/engine';
import type { Command } from 'commander';
import { type Config, configuredPrompts, loadConfig, replacementsOf } from '../../config/index.ts';
import { UserError } from '../../errors.ts';
import { isLoopback, type Route, Routes, Sessions } from '../../gateway/index.ts';
import type { Replacement } from '../../prompts/index.ts';
import { createServer, type ServerOptions } from '../../server/index.ts';
import { describeStore, isStoreUrl, openStore, openTables } from '../../store/index.ts';
import { adminKeyFor } from '../admin-key.ts';
import { Closing } from '../closing.ts';
import { progressLines } from '../download-progress.ts';
import { readStore, storeLocation } from '../find-store.ts';
import { openModelRoutes } from '../model-routes.ts';
import { port } from '../numbers.ts';
import { withRejection } from '../rejection.ts';
import { keepPruned } from '../retention.ts';
import { folderOf, openedLog, policyUpstream, runsBeside } from '../stack.ts';
import { terminated } from '../terminated.ts';
import { readTls } from '../tls.ts';

interface ServeFlags {
  store: string;
  host: string;
  port: number;
  name: string;
  config?: string;
  tlsCert?: string;
  tlsKey?: string;
  log?: string;
  json?: boolean;
}

interface Served extends ServeFlags {
  /** The store itself is to be served. */
  storeGiven: boolean;
}

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve a policy as an OpenAI-compatible endpoint, and a store to workers elsewhere')
    .argument(
      '[model]',
      'folder of a policy, a GGUF file or hf:owner/name; default: what the newest finished run of --store made',
    )
    .option(
      '--store <location>',
      'store of the run whose policy is served; when it is given, the store itself is served, too',
      '.agl/store.db',
    )
    .option(
      '--host <address>',
      'address to listen on; on any but this machine itself every call needs a key',
      '127.0.0.1',
    )
    .option('--port <n>', 'port to listen on', port, 8080)
    .option('--name <model>', 'model name that clients ask for', 'policy')
    .option(
      '--config <file>',
      'serve the "models" of this configuration (without [model], them alone), and prune --store as its "retention" says',
    )
    .option('--tls-cert <file>', 'serve HTTPS with this certificate chain (PEM)')
    .option('--tls-key <file>', 'and its private key (PEM)')
    .option('--log <file>', 'append a JSON line for each call and each refused request; "-" is standard error')
    .option('--json', 'print the address as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  agl serve examples/calculator/model\n  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none node my-agent.js\n',
    )
    .action((model: string | undefined, flags: ServeFlags, command: Command) =>
      serve(model, { ...flags, storeGiven: command.getOptionValueSource('store') === 'cli' }),
    );
}

async function serve(model: string | undefined, flags: Served): Promise<void> {
  const closing = new Closing();
  try {
    const location = storeLocation(flags.store);
    const { routes, replacements, retention, what } = await openRoutes(model, flags, closing);
    const [first] = routes;
    if (first === undefined) throw nothingToServe(flags.config ?? '');
    const { key: adminKey, source } = adminKeyFor(
      isStoreUrl(flags.store) ? runsBeside(flags.store) : resolve(flags.store),
    );
    const open = isLoopback(flags.host) && !process.env.AGL_ADMIN_KEY;
    const { promise: failed, reject } = withRejection();
    const store = flags.storeGiven ? await openStore(location) : null;
    if (store !== null) {
      closing.add(() => store.close());
      const pruning = await keepPruned(store, { retention, note });
      closing.add(() => pruning.end());
    }
    const sessions = new Sessions();
    const server = await createServer({
      // Attempts of controllers elsewhere are recorded; calls without an attempt's key are not.
      store,
      ...(store === null ? {} : { storeApi: store, storeTables: () => openTables(location, 'read') }),
      sessions,
      routes: new Routes(routes, first.alias),
      replacements: store === null ? [] : replacements,
      host: flags.host,
      port: flags.port,
      serve: { open },
      adminKey,
      onFatal: reject,
      ...tlsOf(flags),
      ...openedLog(flags.log, closing),
    });
    closing.add(() => server.close());
    closing.add(() => sessions.closeAll());
    const url = `${server.url}/v1`;
    // Before the words that say it can be ended.
    const ended = terminated();
    process.stdout.write(
      flags.json
        ? `${JSON.stringify({ url, model: first.alias, ...what, ...(store === null ? {} : { store: server.url }) })}\n`
        : [
            `Serving ${what.folder ?? 'models'}`,
            `  as ${routes.map(({ alias }) => `"${alias}"`).join(', ')} at ${url}`,
            `  ${exposure(flags.host, { open, source })}`,
            ...(store === null
              ? []
              : [
                  `  The store ${describeStore(location)} at ${server.url}, with the key in ${source}, or one of \`agl token\`.`,
                ]),
            '  Ctrl-C ends it.\n',
          ].join('\n'),
    );
    await Promise.race([ended, failed]);
  } finally {
    await closing.run();
  }
}

/** What can be reached by whom, in words: nobody should open a port without having read it. */
function exposure(host: string, { open, source }: { open: boolean; source: string }): string {
  if (open) return 'Programs on this machine need no key; nobody else reaches it.';
  const reach = isLoopback(host) ? 'From this machine' : `From every machine that reaches ${host}`;
  return `${reach}: the models, with the key in ${source}; /healthz and /readyz without one.`;
}

function tlsOf({ tlsCert, tlsKey }: ServeFlags): Pick<ServerOptions, 'tls'> {
  if (tlsCert !== undefined && tlsKey !== undefined) return { tls: readTls({ cert: tlsCert, key: tlsKey }) };
  if (tlsCert === undefined && tlsKey === undefined) return {};
  throw new UserError({
    code: 'tls_incomplete',
    message: `HTTPS needs both --tls-cert and --tls-key; ${tlsCert === undefined ? '--tls-cert' : '--tls-key'} is missing.`,
    hint: 'Give both, or none for HTTP.',
  });
}

function note(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** The policy of `model`, or of the newest run, and the models of a configuration. */
async function openRoutes(
  model: string | undefined,
  flags: ServeFlags,
  closing: Closing,
): Promise<{
  routes: Route[];
  replacements: Replacement[];
  retention: Config['retention'];
  what: { folder?: string };
}> {
  const routes: Route[] = [];
  let replacements: Replacement[] = [];
  let retention: Config['retention'];
  const what: { folder?: string } = {};
  if (model !== undefined || flags.config === undefined) {
    const folder =
      model === undefined
        ? await newestPolicy(storeLocation(flags.store))
        : await modelFolder(isHubReference(model) ? model : resolve(model), { onProgress: progressLines(note) });
    const engine = await createEmbeddedEngine({ folder, onWarning: note });
    closing.add(() => engine.close());
    await engine.publish(0);
    routes.push({ alias: flags.name, upstream: await policyUpstream(flags.name, engine, folder) });
    what.folder = folder;
  }
  if (flags.config !== undefined) {
    const { config } = await loadConfig(flags.config);
    routes.push(...(await openModelRoutes({ models: config.models, env: process.env, note, closing })));
    replacements = replacementsOf(configuredPrompts(config.prompts));
    retention = config.retention;
  }
  return { routes, replacements, retention, what };
}

function nothingToServe(config: string): UserError {
  return new UserError({
    code: 'nothing_to_serve',
    message: `${config} names no models.`,
    hint: 'Give the folder of a model, or name models in the configuration.',
  });
}

async function newestPolicy(location: string): Promise<string> {
  const runs = await readStore(location, (store) => store.listRuns());
  const folder = runs.map((run) => join(folderOf(run, location), 'policy')).find((path) => existsSync(path));
  if (folder !== undefined) return folder;
  throw new UserError({
    code: 'no_policy',
    message: `No run of ${describeStore(location)} has finished, so there is no trained policy.`,
    hint: 'Train one with `agl train`, or give the folder of a model.',
  });
}
