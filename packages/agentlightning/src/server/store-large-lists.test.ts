import { expect, it } from 'vitest';
import { openHttpStore } from '../store/http/index.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { startGateway } from './testing/started-gateway.ts';

const adminKey = 'the-admin-key';
const taskOf = (id: string, bytes: number) => ({ id, input: { text: 'x'.repeat(bytes) }, private: {} });

it('tasks of more than one request takes are put in parts', async () => {
  const gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { api: true, adminKey },
  );
  const store = openHttpStore({ url: gateway.server.url, key: adminKey });
  const ids = ['a', 'b', 'c', 'd'];
  await store.putTasks(ids.map((id) => taskOf(id, 10 << 20)));
  for (const id of ids) expect((await gateway.store.getTask(id))?.input.text).toHaveLength(10 << 20);
  await store.close();
  await gateway.close();
}, 60_000);
