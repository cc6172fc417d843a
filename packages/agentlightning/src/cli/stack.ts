import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createEmbeddedEngine, type EmbeddedEngine, modelFolder } from '@agentlightning/engine';
import { type Config, configuredPrompts, replacementsOf, servedModel } from '../config/index.ts';
import type { Engine } from '../engines/engine.ts';
import { createFrozenEngine } from '../engines/frozen.ts';
import { type Route, Routes, Sessions } from '../gateway/index.ts';
import { createServer, type Server, type ServerOptions } from '../server/index.ts';
import { isStoreUrl, openStore, openTables } from '../store/index.ts';
import type { Store } from '../store/store.ts';
import type { Run } from '../store/types.ts';
import { createEmbeddedUpstream, type ModelText, modelText, type Upstream } from '../upstreams/index.ts';
import { adminKeyFor } from './admin-key.ts';
import { Closing } from './closing.ts';
import { progressLines } from './download-progress.ts';
import { openModelRoutes } from './model-routes.ts';
import { openServerLog } from './server-log.ts';
import { readTls } from './tls.ts';

/** The parts that every command with a model needs, wired together; they close in reverse order. */
export interface Stack {
  store: Store;
  /** The policy's; without a policy one that has no weights. */
  engine: Engine;
  /** The models of the configuration. */
  models: Route[];
  /** How the policy reads and writes; null without one. */
  text: ModelText | null;
  sessions: Sessions;
  server: Server;
  closing: Closing;
}

export interface StackOptions {
  config: Pick<Config, 'policy' | 'models' | 'prompts' | 'seed' | 'server' | 'store' | 'runs'>;
  /** Something broke that makes going on pointless, for instance a full disk. */
  onFatal: (error: unknown) => void;
  onWarning: (message: string) => void;
}

/** Opens the model first: its folder is what is most often wrong. Nothing is left open when a later part fails. */
export async function openStack({ config, onFatal, onWarning }: StackOptions): Promise<Stack> {
  const closing = new Closing();
  try {
    const { engine, text, route: policy } = await openPolicy(config, onWarning);
    closing.add(() => engine.close());
    const store = await openStore(config.store);
    closing.add(() => store.close());
    const sessions = new Sessions();
    const models = await openModelRoutes({ models: config.models, env: process.env, note: onWarning, closing });
    const server = await createServer({
      store,
      storeApi: store,
      storeTables: () => openTables(config.store, 'read'),
      sessions,
      routes: new Routes([...(policy === null ? [] : [policy]), ...models], servedModel(config)),
      replacements: replacementsOf(configuredPrompts(config.prompts)),
      host: config.server.host,
      port: config.server.port,
      adminKey: adminKeyFor(isStoreUrl(config.store) ? runFolder(config, '') : config.store).key,
      onFatal,
      ...(config.server.tls === undefined ? {} : { tls: readTls(config.server.tls) }),
      ...openedLog(config.server.log, closing),
    });
    closing.add(() => server.close({ graceMs: 2000 }));
    closing.add(() => sessions.closeAll());
    return { store, engine, text, models, sessions, server, closing };
  } catch (error) {
    await closing.run();
    throw error;
  }
}

/** As server options; it is closed after the server. */
export function openedLog(file: string | undefined, closing: Closing): Pick<ServerOptions, 'log'> {
  if (file === undefined) return {};
  const { log, close } = openServerLog(file);
  closing.add(async () => close());
  return { log };
}

async function openPolicy(
  { policy, seed }: StackOptions['config'],
  onWarning: (message: string) => void,
): Promise<{ engine: Engine; text: ModelText | null; route: Route | null }> {
  if (policy === undefined) return { engine: createFrozenEngine(), text: null, route: null };
  const { name, model, adapter, threads, backend, memoryGiB } = policy;
  const folder = await modelFolder(model, { onProgress: progressLines(onWarning) });
  const engine = await createEmbeddedEngine({
    folder,
    seed,
    onWarning,
    ...(adapter === undefined ? {} : { lora: adapter }),
    ...(threads === undefined ? {} : { threads }),
    ...(memoryGiB === undefined ? {} : { memoryBytes: memoryGiB * 2 ** 30 }),
    ...(backend === undefined ? {} : { backend }),
  });
  try {
    const text = await policyText(engine, folder);
    return { engine, text, route: { alias: name, upstream: upstreamOf(name, engine, text) } };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** @param folder the model's, for what its chat template shows of calls and thinking */
export async function policyUpstream(name: string, engine: EmbeddedEngine, folder: string): Promise<Upstream> {
  return upstreamOf(name, engine, await policyText(engine, folder));
}

function upstreamOf(name: string, engine: EmbeddedEngine, text: ModelText): Upstream {
  return createEmbeddedUpstream({ ...text, name: 'embedded', policy: name, modelId: name, engine });
}

function policyText({ tokenizer, template, eosIds }: EmbeddedEngine, folder: string): Promise<ModelText> {
  return modelText({ folder, tokenizer, template, eosIds });
}

/** Where a run keeps its metrics, checkpoints and final weights. */
export function runFolder({ store, runs }: Pick<Config, 'store' | 'runs'>, runId: string): string {
  return join(runs ?? runsBeside(store), runId);
}

/** The folder of all runs, when no configuration names it: beside the store's file, else in the current folder. */
export function runsBeside(store: string): string {
  return isStoreUrl(store) ? resolve('.agl/runs') : join(store, '..', 'runs');
}

/** Of a run whose configuration is known as the store kept it. */
export function folderOf({ id, config }: Pick<Run, 'id' | 'config'>, store: string): string {
  const { runs } = config;
  // A store file that was moved has its runs beside it.
  return runFolder({ store, runs: typeof runs === 'string' && existsSync(runs) ? runs : undefined }, id);
}
