/**
 * The whole server on a store file, in a process of its own, to be killed: node whole-server.js PATH KEY. Its model says "ok". Writes
 * its address as one line.
 */
import { Routes, Sessions } from '../../gateway/index.ts';
import { openSqliteStore } from '../../store/index.ts';
import { createEmbeddedUpstream } from '../../upstreams/index.ts';
import { byteModel, say, scriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { createServer } from '../server.ts';

const [path = '', adminKey = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const upstream = createEmbeddedUpstream({ ...byteModel, engine: scriptedEngine(() => say('ok')) });
const routes = new Routes([{ alias: 'policy', upstream }], 'policy');
const sessions = new Sessions();
const server = await createServer({
  store,
  storeApi: store,
  sessions,
  routes,
  adminKey,
  onFatal: () => process.exit(1),
});
process.stdout.write(`${server.url}\n`);
