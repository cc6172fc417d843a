import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CallObservation } from '../gateway/index.ts';

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export interface CallMetrics {
  observe(call: CallObservation): void;
  /** A request refused before it reached the gateway: no key, no such path, too large. */
  refused(code: string): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** What Prometheus may ask of a server. Labels are names of our configuration and our own codes, so their number is bounded. */
export function createCallMetrics({ underWay }: { underWay: () => number }): CallMetrics {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: 'agl_calls_total',
    help: 'Model calls by outcome: "ok", or the code of the problem.',
    labelNames: ['model', 'dialect', 'outcome'] as const,
    registers,
  });
  const untrainable = new Counter({
    name: 'agl_untrainable_calls_total',
    help: 'Calls that were recorded but cannot be trained on, by reason.',
    labelNames: ['model', 'reason'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'agl_tokens_total',
    help: 'Tokens of prompts and answers.',
    labelNames: ['model', 'kind'] as const,
    registers,
  });
  const latency = new Histogram({
    name: 'agl_call_seconds',
    help: 'From the request to the recorded answer.',
    labelNames: ['model'] as const,
    buckets: seconds,
    registers,
  });
  const firstToken = new Histogram({
    name: 'agl_first_token_seconds',
    help: 'From the request to the first token of a stream.',
    labelNames: ['model'] as const,
    buckets: seconds,
    registers,
  });
  const refusals = new Counter({
    name: 'agl_refused_requests_total',
    help: 'Requests refused before they became a call, by code.',
    labelNames: ['code'] as const,
    registers,
  });
  new Gauge({
    name: 'agl_calls_under_way',
    help: 'Calls that are being answered now.',
    registers,
    collect() {
      this.set(underWay());
    },
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    refused: (code) => refusals.inc({ code }),
    observe(call) {
      if (call.callId === null || call.model === null) {
        refusals.inc({ code: call.code ?? 'unknown' });
        return;
      }
      const { model, dialect } = call;
      calls.inc({ model, dialect, outcome: call.code ?? 'ok' });
      if (call.untrainable !== null) untrainable.inc({ model, reason: call.untrainable });
      tokens.inc({ model, kind: 'prompt' }, call.promptTokens);
      tokens.inc({ model, kind: 'completion' }, call.completionTokens);
      if (call.latencyMs !== null) latency.observe({ model }, call.latencyMs / 1000);
      if (call.timeToFirstTokenMs !== null) firstToken.observe({ model }, call.timeToFirstTokenMs / 1000);
    },
  };
}
