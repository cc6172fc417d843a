// npm run bench -- store-scale [--calls 1000000] [--base 10000]: the queries of trainer and UI on a file with many calls beside the same
// queries on one with few, undisturbed. Ratios are the time with few ÷ the time with many; 0.5 is the bound.
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../packages/agentlightning/dist/store/index.js';
import { printResult } from '../scripts/result.mjs';
import { percentile } from './gateway/load.mjs';
import { fill, shape } from './store/fill.mjs';
import { queriesOf } from './store/queries.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    base: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '150' },
  },
});
const rounds = Number(values.rounds);
const warmUp = 50;
const folder = mkdtempSync(join(tmpdir(), 'agl-bench-store-scale-'));
const metrics = {};
const ratios = {};

async function measure(calls) {
  const path = join(folder, `${calls}.db`);
  const began = performance.now();
  await fill(path, calls);
  const seconds = (performance.now() - began) / 1000;
  console.log(`${calls} calls in ${Math.round(statSync(path).size / 2 ** 20)} MiB, filled in ${seconds.toFixed(0)} s`);
  settle(path);
  const store = await openStore(path);
  const queries = Object.entries(queriesOf(store, shape(calls)));
  const times = Object.fromEntries(queries.map(([name]) => [name, []]));
  // In turns, beginning with another one each time: what disturbs the machine for some milliseconds, and what the runtime clears away
  // every so many allocations, would else hit all rounds of one query. Those that write need each other, and stay in their order.
  const writes = queries.findIndex(([name]) => name === 'list_step');
  const reads = queries.slice(writes);
  for (let round = -warmUp; round < rounds; round += 1) {
    const first = ((round + warmUp) * 7) % reads.length;
    const turn = [...queries.slice(0, writes), ...reads.slice(first), ...reads.slice(0, first)];
    for (const [name, query] of turn) {
      // Not processor time: that of the runtime's other threads, which compile and collect what an earlier query left, would be in it.
      const start = performance.now();
      await query(round + warmUp);
      if (round >= 0) times[name].push(performance.now() - start);
    }
  }
  // The lowest tenth: the work of the query, without what the runtime and other programs do in between.
  const costs = Object.fromEntries(queries.map(([name]) => [name, percentile(times[name], 0.1)]));
  await store.close();
  return costs;
}

/** What the system still has to write of the file would slow the queries that come first. */
function settle(path) {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

try {
  const few = await measure(Number(values.base));
  const many = await measure(Number(values.calls));
  for (const name of Object.keys(few)) {
    metrics[`${name}_ms`] = Number(many[name].toFixed(3));
    ratios[name] = Number((few[name] / many[name]).toFixed(2));
    const slow = many[name] > 2 * few[name] ? '  <- slower than twice' : '';
    console.log(
      `${name.padEnd(34)} ${few[name].toFixed(3).padStart(9)} ms ${many[name].toFixed(3).padStart(9)} ms${slow}`,
    );
  }
  metrics.calls = Number(values.calls);
  metrics.slower_than_twice = Object.keys(few).filter((name) => many[name] > 2 * few[name]).length;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
printResult({ name: 'store-scale', metrics, ratios });
