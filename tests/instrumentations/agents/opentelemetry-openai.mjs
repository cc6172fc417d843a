// @opentelemetry/instrumentation-openai; agents and tools are spans of the GenAI conventions that the program makes itself.
// The writer is rewarded from within its span, by our client.
import { trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai';
import { emitReward } from '../../../packages/client/dist/index.js';
import { loggerProvider, provider, shutdown } from './telemetry.mjs';

registerInstrumentations({
  tracerProvider: provider,
  loggerProvider,
  instrumentations: [new OpenAIInstrumentation({ captureMessageContent: true })],
});

const { runTwoAgents } = await import('./two-agents.mjs');
const tracer = trace.getTracer('agent');

function within(name, attributes, work) {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } finally {
      span.end();
    }
  });
}

await runTwoAgents({
  agent: (name, work) =>
    within(`invoke_agent ${name}`, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name }, async () => {
      const result = await work();
      if (name === 'writer') await emitReward({ style: 0.25, reward: 1 });
      return result;
    }),
  tool: ({ name, id, given }, work) => {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.call.arguments': JSON.stringify(given),
    };
    return within(`execute_tool ${name}`, attributes, async (span) => {
      const result = await work();
      span.setAttribute('gen_ai.tool.call.result', result);
      return result;
    });
  },
});
await shutdown();
