import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStore, openTables } from '../../store/index.ts';
import { storeUrl } from '../../store/postgres/testing/index.ts';
import { importTrajectories } from './read.ts';

it('trajectories go into PostgreSQL, once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agl-atif-postgres-'));
  const path = join(folder, 'one.json');
  const steps = [
    { source: 'user', message: 'What is 6 * 7?' },
    {
      ...{ source: 'agent', message: '42', timestamp: '2025-10-01T10:00:00Z' },
      metrics: { prompt_token_ids: [1, 2], completion_token_ids: [3], logprobs: [-0.5] },
    },
  ];
  const agent = { name: 'solver', version: '1', model_name: 'sonnet' };
  writeFileSync(path, JSON.stringify({ schema_version: 'ATIF-v1.7', session_id: 's-1', agent, steps }));
  const url = storeUrl();
  const signal = new AbortController().signal;
  for (const added of [1, 0]) {
    const tables = await openTables(url, 'write');
    const counts = await importTrajectories(tables, { path, conflicts: 'refuse', now: Date.now(), signal });
    expect(counts).toMatchObject({ attempts: { added }, calls: { added }, annotations: { added } });
    await tables.close();
  }
  const store = await openStore(url);
  const [call, ...others] = await store.listCalls('s-1');
  expect(others).toEqual([]);
  expect(call).toMatchObject({ agentName: 'solver', policy: null, promptIds: Int32Array.of(1, 2) });
  expect(call?.choices).toMatchObject([{ tokenIds: Int32Array.of(3), logProbs: Float32Array.of(-0.5) }]);
  await store.close();
  rmSync(folder, { recursive: true });
});
