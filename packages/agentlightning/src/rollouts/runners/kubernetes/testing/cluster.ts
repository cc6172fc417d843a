import { closeSync, openSync } from 'node:fs';
import { type StartedGateway, startGateway } from '../../../../server/testing/started-gateway.ts';
import { say, scriptedEngine } from '../../../../upstreams/testing/scripted-engine.ts';
import type { Pod } from '../objects.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

/** The control plane that scripts/kubernetes built; `npm run test:kubernetes` names it. */
export function startTestPlane(): Promise<ControlPlane> {
  const program = process.env.AGL_TEST_CONTROL_PLANE;
  if (program === undefined) throw new Error('AGL_TEST_CONTROL_PLANE names no program: run `npm run test:kubernetes`.');
  closeSync(openSync(program, 'r'));
  return startControlPlane(program);
}

/** A gateway and store with one task, whose answer is 42. */
export async function startTestGateway(options: { api?: boolean; adminKey?: string } = {}): Promise<StartedGateway> {
  const gateway = await startGateway(
    scriptedEngine(() => say('42')),
    options,
  );
  await gateway.store.putTasks([{ id: 'sum', input: { question: '40 + 2?' }, private: { answer: 42 } }]);
  return gateway;
}

export async function createNamespace({ admin }: ControlPlane, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await admin.json({ method: 'POST', path: '/api/v1/namespaces', body });
  await until(() => admin.json({ path: `/api/v1/namespaces/${name}/serviceaccounts/default` }));
}

export async function podsOf({ admin }: ControlPlane, namespace: string): Promise<Pod[]> {
  return (await admin.json<{ items: Pod[] }>({ path: `/api/v1/namespaces/${namespace}/pods` })).items;
}

/** Asks until there is an answer that is neither an error nor undefined. */
export async function until<Result>(look: () => Promise<Result | undefined>, withinMs = 60_000): Promise<Result> {
  const end = Date.now() + withinMs;
  let last: unknown = 'no answer';
  while (Date.now() < end) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Waited ${withinMs} ms in vain: ${String(last)}`);
}
