import { statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { createEmbeddedEngine } from '@agentlightning/engine';
import { checkAgent, checkGrader } from '../../rollouts/index.ts';
import { describeStore, isStoreUrl, openStore } from '../../store/index.ts';
import { Closing } from '../closing.ts';
import { openModelRoutes } from '../model-routes.ts';
import { loadTaskFiles } from '../task-files.ts';
import { readTls } from '../tls.ts';
import { type Check, type Finding, good, warning } from './check.ts';
import { canListen } from './listening.ts';
import { tryAgent } from './trial.ts';

const gibibyte = 2 ** 30;
const inGiB = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;

/** What `agl doctor` looks at, in this order. A new check is one entry here. */
export const checks: readonly Check[] = [
  {
    name: 'machine',
    needs: [],
    async run() {
      const memory = good(`Node ${process.versions.node}, ${inGiB(freemem())} of ${inGiB(totalmem())} memory free`);
      return freemem() > gibibyte
        ? memory
        : warning(memory.message, 'Training needs memory for weights, gradients and activations.');
    },
  },
  {
    name: 'tasks',
    needs: [],
    async run({ config }) {
      const notes: string[] = [];
      const { train, validation } = await loadTaskFiles(config, (note) => notes.push(note));
      const held = validation.length === 0 ? 'none held out' : `${validation.length} held out`;
      return [good(`${train.length} to train on, ${held}`), ...notes.map((note) => warning(note))];
    },
  },
  {
    name: 'agent',
    needs: [],
    async run({ config }) {
      await checkAgent(config.agent);
      if ('kubernetes' in config.agent) return good('the cluster would take its Job');
      if ('run' in config.agent) return good('it is a function of the configuration');
      return good('module' in config.agent ? `${config.agent.module} can be loaded` : 'its command can be run');
    },
  },
  {
    name: 'grader',
    needs: [],
    async run({ config: { grader } }) {
      await checkGrader(grader);
      return good(typeof grader === 'string' ? grader : `${Object.keys(grader)[0]}: can be used`);
    },
  },
  {
    name: 'model',
    needs: [],
    async run({ config: { policy, seed } }) {
      if (policy === undefined) return good('no policy: no weights are trained');
      const warnings: Finding[] = [];
      const { model, adapter, threads, backend } = policy;
      const engine = await createEmbeddedEngine({
        ...{ folder: model, seed, onWarning: (message: string) => warnings.push(warning(message)) },
        ...(adapter === undefined ? {} : { lora: adapter }),
        ...(threads === undefined ? {} : { threads }),
        ...(backend === undefined ? {} : { backend }),
      });
      const { parameters, trainableParameters, maxTokens, backend: used } = engine.info();
      await engine.close();
      const size = `${parameters.toLocaleString('en')} weights, ${trainableParameters.toLocaleString('en')} of them trained`;
      return [good(`${size}, context ${maxTokens} tokens, on ${used}`), ...warnings];
    },
  },
  {
    name: 'models',
    needs: [],
    async run({ config }) {
      if (config.models.length === 0) return good('none beside the policy');
      const lines: string[] = [];
      const closing = new Closing();
      const note = (line: string) => lines.push(line);
      await openModelRoutes({ models: config.models, env: process.env, note, closing }).finally(() => closing.run());
      return lines.map(good);
    },
  },
  {
    name: 'store',
    needs: [],
    async run({ config }) {
      const store = await openStore(config.store);
      await store.close();
      if (isStoreUrl(config.store)) return good(describeStore(config.store));
      const { bavail, bsize } = await statfs(dirname(config.store));
      const found = good(`${config.store}, ${inGiB(bavail * bsize)} free on its disk`);
      return bavail * bsize > gibibyte ? found : warning(found.message, 'Checkpoints and calls need room.');
    },
  },
  {
    name: 'address',
    needs: [],
    async run({ config: { server } }) {
      if (server.tls) readTls(server.tls);
      await canListen(server.host, server.port);
      return good(server.port === 0 ? `any free port of ${server.host}` : `${server.host}:${server.port} is free`);
    },
  },
  { name: 'trial', needs: ['tasks', 'agent', 'grader'], run: tryAgent },
];
