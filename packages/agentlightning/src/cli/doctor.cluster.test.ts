import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createNamespace, startTestPlane } from '../rollouts/runners/kubernetes/testing/cluster.ts';
import type { ControlPlane } from '../rollouts/runners/kubernetes/testing/control-plane.ts';
import { type Kubelet, startKubelet } from '../rollouts/runners/kubernetes/testing/kubelet.ts';
import { runAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

let plane: ControlPlane;
let node: Kubelet;
let project: TinyProject | undefined;
beforeAll(async () => {
  plane = await startTestPlane();
  node = await startKubelet(plane, 'node-1');
  await createNamespace(plane, 'doctor');
});
afterAll(async () => {
  await node?.close();
  await plane?.dispose();
});
afterEach(() => {
  if (project) rmSync(project.folder, { recursive: true });
});

/** Agents in pods, and a gateway at an address that they are told of. */
async function examine({ image = 'agent', publicUrl }: { image?: string; publicUrl?: string } = {}) {
  const port = await freePort();
  const program = 'solve.mjs';
  project = await tinyProject({
    server: { port, publicUrl: publicUrl ?? `http://127.0.0.1:${port}` },
    agent: {
      kubernetes: {
        ...{ image, namespace: 'doctor', kubeconfig: plane.kubeconfig, stuckSeconds: 1 },
        command: 'exec node "$PROGRAM"',
      },
      timeoutSeconds: 60,
    },
  });
  project.write(
    program,
    "import solve from './agent.mjs';\nconsole.log(await solve(JSON.parse(process.env.AGL_TASK)));",
  );
  const config = project.read('agl.config.json');
  const env = { PROGRAM: project.file(program), ACKNOWLEDGED: project.file('ids'), GATE: project.file('gate') };
  const parsed = JSON.parse(config) as { agent: object };
  project.write('agl.config.json', JSON.stringify({ ...parsed, agent: { ...parsed.agent, env } }));
  const { stdout, stderr } = await runAgl(['doctor', project.folder, '--json']);
  if (stdout === '') throw new Error(stderr);
  const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; message: string }[] };
  return (check: string) => {
    const { state, message } = findings.find((each) => each.check === check) ?? {};
    return `${state} ${message}`;
  };
}

it('sends three tasks through real pods, which find the gateway', async () => {
  const found = await examine();
  expect(found('agent')).toBe('good the cluster would take its Job');
  expect(found('trial')).toContain('good 3 tasks went from the queue to the reward');
});

it('tells an image that cannot be pulled', async () => {
  const found = await examine({ image: 'missing.example/agent:1' });
  expect(found('trial')).toContain('bad All 3 trial task(s) failed in the same way (image_pull_failed)');
});

it('tells an address that pods do not reach', async () => {
  const found = await examine({ publicUrl: 'http://127.0.0.1:1' });
  expect(found('trial')).toContain('bad All 3 trial task(s) failed');
  expect(found('trial')).toContain('It never called the model.');
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
