import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BudgetLimits, type Route, Routes, type SessionSampling, Sessions } from '../../gateway/index.ts';
import { openSqliteStore, openTables } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import type { ResourceVersions, RolloutMode } from '../../store/types.ts';
import { createEmbeddedUpstream } from '../../upstreams/index.ts';
import { byteModel, type ScriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { createServer, type Server, type ServerOptions } from '../server.ts';

export interface StartedGateway {
  server: Server;
  store: Store;
  sessions: Sessions;
  routes: Routes;
  fatal: unknown[];
  /** A new attempt with its token. */
  attempt(options?: {
    seed?: number;
    mode?: RolloutMode;
    sampling?: SessionSampling;
    budget?: BudgetLimits;
    /** That the rollout pins. */
    resources?: ResourceVersions;
  }): Promise<OpenAttempt>;
  close(): Promise<void>;
}

export interface OpenAttempt {
  attemptId: string;
  rolloutId: string;
  token: string;
}

export type GatewaySettings = Partial<
  Pick<ServerOptions, 'store' | 'serve' | 'log' | 'adminKey' | 'requestTimeoutMs' | 'replacements'>
> & {
  routes?: Route[];
  /** Serve the store, too. */
  api?: boolean;
};

/** The whole of it: SQLite store, sessions, HTTP, and an embedded upstream over a scripted engine under the alias "policy". */
export async function startGateway(
  engine: ScriptedEngine,
  { routes: more = [], api = false, ...settings }: GatewaySettings = {},
): Promise<StartedGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'agl-gateway-'));
  const path = join(folder, 'store.db');
  const store = await openSqliteStore({ path });
  await store.createRun({ id: 'run', config: {} });
  await store.putTasks([{ id: 'task', input: {}, private: {} }]);
  const sessions = new Sessions();
  const upstream = createEmbeddedUpstream({ ...byteModel, engine });
  const routes = new Routes([{ alias: 'policy', upstream }, ...more], 'policy');
  const fatal: unknown[] = [];
  const server = await createServer({
    store,
    sessions,
    routes,
    onFatal: (error) => fatal.push(error),
    ...(api ? { storeApi: store, storeTables: () => openTables(path, 'read') } : {}),
    ...settings,
  });
  let rollouts = 0;
  return {
    server,
    store,
    sessions,
    routes,
    fatal,
    async attempt({ seed = 1, mode = 'train', sampling, budget = {}, resources = {} } = {}) {
      rollouts += 1;
      const id = `rollout-${rollouts}`;
      const request = {
        runId: 'run',
        taskId: 'task',
        groupId: 'group',
        mode,
        step: 0,
        seed,
        maxAttempts: 1,
        resources,
      };
      await store.enqueueRollouts([{ id, ...request }]);
      const [claim] = await store.claimRollouts({ workerId: 'worker', limit: 1, leaseMs: 60_000 });
      if (claim === undefined) throw new Error('nothing to claim');
      const names = { attemptId: claim.attempt.id, rolloutId: id };
      const { number: attemptNumber } = claim.attempt;
      const forced = sampling === undefined ? {} : { sampling };
      return { ...names, token: sessions.open({ ...names, attemptNumber, seed, mode, budget, ...forced }) };
    },
    async close() {
      await server.close({ graceMs: 0 });
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
