// @arizeai/openinference-instrumentation-openai; agents and tools are OpenInference spans that the program makes itself.
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { provider, shutdown } from './telemetry.mjs';

registerInstrumentations({ tracerProvider: provider, instrumentations: [new OpenAIInstrumentation()] });

const { runTwoAgents } = await import('./two-agents.mjs');
const tracer = trace.getTracer('agent');

function within(name, attributes, work) {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    const result = await work();
    if (typeof result === 'string') span.setAttribute('output.value', result);
    span.end();
    return result;
  });
}

await runTwoAgents({
  agent: (name, work) => within(name, { 'openinference.span.kind': 'AGENT', 'agent.name': name }, work),
  tool: ({ name, given }, work) => {
    const attributes = {
      'openinference.span.kind': 'TOOL',
      'tool.name': name,
      'input.value': JSON.stringify(given),
      'input.mime_type': 'application/json',
    };
    return within(name, attributes, work);
  },
});
await shutdown();
