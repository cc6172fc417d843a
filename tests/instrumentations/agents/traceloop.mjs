// @traceloop/node-server-sdk with its own decorators-as-functions. Its exporter is given our receiver, its own telemetry is off.
import * as traceloop from '@traceloop/node-server-sdk';

const endpoint = process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
traceloop.initialize({
  appName: 'two-agents',
  baseUrl: endpoint,
  apiKey: process.env.OPENAI_API_KEY,
  disableBatch: true,
  silenceInitializationMessage: true,
  tracingEnabled: true,
  traceloopSyncEnabled: false,
});

const { runTwoAgents } = await import('./two-agents.mjs');
await traceloop.withWorkflow({ name: 'city-report' }, () =>
  runTwoAgents({
    agent: (name, work) => traceloop.withAgent({ name }, work),
    tool: ({ name, given }, work) => traceloop.withTool({ name }, async (_given) => work(), given),
  }),
);
await traceloop.forceFlush();
