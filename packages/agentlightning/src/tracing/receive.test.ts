import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedSpan } from '../store/types.ts';
import { receiveOtlp } from './receive.ts';
import { TracingError } from './tracing-error.ts';

async function receive(body: Uint8Array, contentType: string, signal: 'traces' | 'logs' = 'traces') {
  const kept: ReportedSpan[] = [];
  const store = { addSpans: async (spans: ReportedSpan[]) => kept.push(...spans), listCalls: async () => [] };
  const request = { signal, contentType, contentEncoding: undefined, body, attemptId: 'a', maxBodyBytes: 1 << 20, now };
  const answer = await receiveOtlp(store, request);
  return { kept, answer: Buffer.from(answer.body).toString() };
}

/** The receiver's clock. */
const now = 1_700_000_000_000;

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Either an answer, or an error that has a name. */
async function taken(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(TracingError);
  }
}

describe('receiveOtlp', () => {
  it('survives any bytes that claim to be protobuf', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      // Begins like a request, so that deeper fields are reached.
      fc.uint8Array({ maxLength: 100 }).map((rest) => Uint8Array.of(0x0a, rest.length, ...rest)),
    );
    await fc.assert(fc.asyncProperty(bytes, (body) => taken(receive(body, 'application/x-protobuf'))));
  });

  it('survives any JSON in the place of any part, and keeps the neighbour', async () => {
    const good = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), startTimeUnixNano: '1', name: 'good' };
    const field = fc.constantFrom(
      ...Object.keys(good),
      'kind',
      'status',
      'attributes',
      'events',
      'links',
      'parentSpanId',
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.jsonValue().map((inner) => [{ key: 'k', value: inner, name: inner, attributes: inner }]),
      fc
        .constantFrom('stringValue', 'intValue', 'arrayValue', 'kvlistValue', 'bytesValue')
        .chain((kind) => fc.jsonValue().map((inner) => [{ key: 'k', value: { [kind]: inner } }])),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(field, value), fc.jsonValue(), fc.jsonValue(), async (change, scope, resource) => {
        const request = {
          resourceSpans: [
            { resource, scopeSpans: [{ scope, spans: [scope] }] },
            { scopeSpans: [{ spans: [{ ...good, ...change }, good] }] },
          ],
        };
        const { kept } = await receive(json(request), 'application/json');
        expect(kept.some(({ span }) => span.name === 'good' && span.attributes !== null)).toBe(true);
      }),
    );
  });

  it('tells equal log records by their time, and drops exact repeats', async () => {
    const record = (time: string) => ({ timeUnixNano: time, body: { stringValue: 'x' } });
    const request = {
      resourceLogs: [{ scopeLogs: [{ logRecords: [record('1000000'), record('2000000'), record('1000000')] }] }],
    };
    const { kept } = await receive(json(request), 'application/json; charset=utf-8', 'logs');
    expect(new Set(kept.map(({ span }) => span.spanId)).size).toBe(2);
    expect(kept.map(({ span }) => span.startedAt)).toEqual([1, 2, 1]);
  });

  it('refuses values nested without end, whatever is next to them', async () => {
    const deep = (levels: number): object =>
      levels === 0 ? { stringValue: 'x' } : { arrayValue: { values: [deep(levels - 1)] } };
    const span = (levels: number) => ({
      traceId: '1'.repeat(32),
      spanId: String(levels).padStart(16, '0'),
      startTimeUnixNano: 1,
      attributes: [{ key: 'k', value: deep(levels) }],
    });
    const { kept, answer } = await receive(
      json({ resourceSpans: [{ scopeSpans: [{ spans: [span(200), span(9)] }] }] }),
      'application/json',
    );
    expect(kept).toHaveLength(1);
    expect(answer).toContain('nested more than 32 levels');
  });
});
