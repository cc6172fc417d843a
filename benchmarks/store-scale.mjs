// npm run bench -- store-scale [--calls 1000000] [--base 10000]: the queries of trainer and UI on a file with many calls beside the same
// queries on one with few, in processor time. Ratios are the time with few ÷ the time with many; 0.5 is the bound.
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openStore } from '../packages/agentlightning/dist/store/index.js';
import { printResult } from '../scripts/result.mjs';
import { percentile } from './gateway/load.mjs';
import { fill, shape } from './store/fill.mjs';
import { queriesOf } from './store/queries.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    base: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '60' },
  },
});
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const rounds = Number(values.rounds);
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
  // In turns: what disturbs the machine for some milliseconds would else hit all rounds of a short query, and no other.
  for (let round = -5; round < rounds; round += 1) {
    for (const [name, query] of queries) {
      collect(); // so that nobody pays for what another query left
      // The database works in this process, so processor time says how much it does, however busy the machine is.
      const start = process.cpuUsage();
      await query(round + 5);
      const { user, system } = process.cpuUsage(start);
      if (round >= 0) times[name].push((user + system) / 1000);
    }
  }
  // The lower quartile: the work of the query, without what the runtime does beside it now and then.
  const costs = Object.fromEntries(queries.map(([name]) => [name, percentile(times[name], 0.25)]));
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
