// The Agents SDK hands its traces to processors: OpenInference's turns them into OpenTelemetry spans, our client's sends them by itself.
// A run switches the SDK's tracing off, because by default it goes to OpenAI: here it is on again, with that one processor alone.
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as agents from '@openai/agents';
import { z } from 'zod';
import { createAgentsProcessor } from '../../../packages/client/dist/index.js';
import { provider, shutdown } from './telemetry.mjs';

if (process.env.AGL_TEST_PROCESSOR) agents.setTraceProcessors([createAgentsProcessor()]);
else new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents);
agents.setTracingDisabled(false);
if (process.env.AGL_TEST_API) agents.setOpenAIAPI(process.env.AGL_TEST_API);

const lookup = agents.tool({
  name: 'lookup',
  description: 'Number of inhabitants of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => JSON.stringify({ city, inhabitants: 2_100_000 }),
});
const model = process.env.AGL_MODEL;
const researcher = new agents.Agent({
  name: 'researcher',
  instructions: 'You are the researcher.',
  model,
  tools: [lookup],
});
const writer = new agents.Agent({ name: 'writer', instructions: 'You are the writer.', model });

const asked = await agents.run(researcher, 'How many people live in Paris?');
await agents.run(writer, asked.finalOutput);
await agents.getGlobalTraceProvider().forceFlush();
await shutdown();
