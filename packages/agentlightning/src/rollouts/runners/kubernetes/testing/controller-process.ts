/**
 * A controller in a process of its own, to be killed: node controller-process.js WORKER CONCURRENCY, with the rest in its environment. It
 * talks to gateway and store over HTTP, as `agl controller` does.
 */
import { openHttpStore } from '../../../../store/index.ts';
import { createController } from '../../../controller.ts';
import { createRewardSource } from '../../../graders/graders.ts';
import { openRemoteSessions } from '../../../remote-sessions.ts';
import { createRunner } from '../../runners.ts';

const [workerId = '', concurrency = '8'] = process.argv.slice(2);
const {
  AGL_TEST_SERVER = '',
  AGL_TEST_KEY = '',
  AGL_TEST_KUBECONFIG,
  AGL_TEST_NAMESPACE,
  AGL_TEST_COMMAND,
} = process.env;
const server = { url: AGL_TEST_SERVER, key: AGL_TEST_KEY };
const controller = createController({
  store: openHttpStore(server),
  sessions: openRemoteSessions(server),
  baseUrl: server.url,
  model: 'policy',
  runner: createRunner({
    kubernetes: {
      ...{ image: 'agent', command: AGL_TEST_COMMAND, namespace: AGL_TEST_NAMESPACE, kubeconfig: AGL_TEST_KUBECONFIG },
      ...{ queueSeconds: 120, startSeconds: 120, stuckSeconds: 10 },
    },
    ...{ output: 'stdout-last-line', timeoutSeconds: 120, graceSeconds: 1 },
  }),
  reward: createRewardSource('numeric-match'),
  workerId,
  concurrency: Number(concurrency),
  leaseMs: 60_000,
  backoff: { firstMs: 1, maxMs: 1 },
  onEvent: ({ type }) => process.stdout.write(`${type}\n`),
});
controller.start();
process.stdout.write('started\n');
