import { randomBytes } from 'node:crypto';
import { encodeMessage } from '../../packages/agentlightning/dist/tracing/wire-format.js';

const text = (key, stringValue) => ({ key, value: { stringValue } });

/** An OTLP request in protobuf with spans as an agent's instrumentation makes them, of one attempt. */
export function spansBody({ rolloutId, attemptId }, { count }) {
  const resource = {
    attributes: [
      text('service.name', 'agent'),
      text('agentlightning.rollout_id', rolloutId),
      text('agentlightning.attempt_id', attemptId),
      { key: 'agentlightning.span_sequence_id', value: { intValue: '1' } },
    ],
  };
  const spans = Array.from({ length: count }, () => spanOf());
  return Buffer.from(
    encodeMessage('TracesRequest', {
      resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'bench' }, spans }] }],
    }),
  );
}

/** The same spans, each in bytes of its own. */
export function spanBodies(count) {
  return Array.from({ length: count }, () => Buffer.from(encodeMessage('Span', spanOf())));
}

function spanOf() {
  return {
    ...{ traceId: randomBytes(16), spanId: randomBytes(8), parentSpanId: randomBytes(8), name: 'chat policy', kind: 3 },
    ...{ startTimeUnixNano: '1700000000000250000', endTimeUnixNano: '1700000000900250000', status: { code: 1 } },
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'policy'),
      text('gen_ai.response.id', `chatcmpl-${randomBytes(12).toString('hex')}`),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '412' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: '64' } },
      text('gen_ai.prompt.0.content', 'What is 6 * 7? Think step by step, and answer with a number alone.'),
      text('gen_ai.completion.0.content', 'Six times seven is forty-two, so the answer is 42.'),
    ],
  };
}
