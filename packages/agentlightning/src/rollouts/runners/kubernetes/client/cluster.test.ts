import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCluster } from './cluster.ts';

const folder = mkdtempSync(join(tmpdir(), 'agl-kubeconfig-'));
const asked: (string | undefined)[] = [];
const server = createServer((request, response) => {
  asked.push(request.headers.authorization);
  response.end('{}');
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

function kubeconfig(user: string, name = 'config'): string {
  return write(
    name,
    `apiVersion: v1
kind: Config
current-context: a
contexts:
  - { name: a, context: { cluster: c, user: u, namespace: of-a } }
  - { name: b, context: { cluster: c, user: nobody } }
clusters: [{ name: c, cluster: { server: '${url}/' } }]
users: [{ name: u, user: ${user} }]
`,
  );
}

async function authorizations(path: string, { context, times = 1 }: { context?: string; times?: number } = {}) {
  asked.length = 0;
  const { api, namespace } = await openCluster({ kubeconfig: path, context }, {});
  for (let time = 0; time < times; time += 1) await api.json({ path: '/x' });
  await api.close();
  return { asked: [...asked], namespace };
}

describe('a kubeconfig', () => {
  it('names server, namespace and token of its current context', async () => {
    const path = kubeconfig('{ token: t1 }');
    expect(await authorizations(path)).toEqual({ asked: ['Bearer t1'], namespace: 'of-a' });
    expect(await authorizations(path, { context: 'b' })).toEqual({ asked: [undefined], namespace: 'default' });
  });

  it('names a file of a token beside itself', async () => {
    write('token', 'from-file\n');
    expect((await authorizations(kubeconfig('{ tokenFile: token }'))).asked).toEqual(['Bearer from-file']);
  });

  it('names a plugin, which is asked again when its token runs out', async () => {
    const count = join(folder, 'count');
    const script = (expires: string) =>
      `echo x >> ${count}; printf '{"kind":"ExecCredential","status":{"token":"n%s"${expires}}}' $(grep -c x ${count})`;
    const user = (expires: string) =>
      JSON.stringify({
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script(expires)] },
      });
    const lasting = await authorizations(kubeconfig(user('')), { times: 2 });
    expect(lasting.asked).toEqual(['Bearer n1', 'Bearer n1']);
    const short = await authorizations(kubeconfig(user(',"expirationTimestamp":"2020-01-01T00:00:00Z"')), { times: 2 });
    expect(short.asked).toEqual(['Bearer n2', 'Bearer n3']);
  });

  it('is found by KUBECONFIG', async () => {
    const { namespace, api } = await openCluster({}, { KUBECONFIG: kubeconfig('{ token: t }') });
    await api.close();
    expect(namespace).toBe('of-a');
  });

  it.each([
    ['that is not there', () => join(folder, 'gone'), undefined, 'gone cannot be read'],
    ['that is none', () => write('none', 'a: 1'), undefined, 'none is no kubeconfig'],
    ['without the context', () => kubeconfig('{}'), 'c', 'has no complete context "c"; known: a, b'],
  ])('%s is told', async (_, path, context, message) => {
    await expect(openCluster({ kubeconfig: path(), context }, {})).rejects.toMatchObject({
      code: 'kubeconfig_invalid',
      category: 'user',
      message: expect.stringContaining(message),
    });
  });

  it('whose plugin fails is told', async () => {
    const path = kubeconfig(`{ exec: { apiVersion: v1, command: /no/such/plugin } }`);
    await expect(authorizations(path)).rejects.toMatchObject({ message: expect.stringContaining('/no/such/plugin') });
  });
});
