import { describe, expect, it } from 'vitest';
import type { ReportedSpan } from '../store/types.ts';
import type { Signal } from './batch.ts';
import { receiveOtlp } from './receive.ts';

/** A field of protobuf that holds bytes. */
function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as string);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.of(number * 8 + 2, ...length), bytes]);
}

const start = Buffer.concat([Buffer.of(7 * 8 + 1), Buffer.from([0, 0, 0x10, 0, 0, 0, 0, 0])]);

function span(digit: string, name: Uint8Array | string = digit): Buffer {
  const traceId = Buffer.from('1'.repeat(32), 'hex');
  const spanId = Buffer.from(digit.repeat(16), 'hex');
  return Buffer.concat([field(1, traceId), field(2, spanId), field(5, name), start]);
}

const spansOf = (...spans: Buffer[]) => Buffer.concat(spans.map((item) => field(2, item)));
const group = (...scopes: Buffer[]) => field(1, Buffer.concat(scopes.map((scope) => field(2, scope))));

async function receive(body: Uint8Array, signal: Signal = 'traces') {
  const kept: string[] = [];
  const addSpans = async (spans: ReportedSpan[]) => kept.push(...spans.map((one) => one.span.name));
  const answer = await receiveOtlp(
    { addSpans, listCalls: async () => [] },
    {
      signal,
      contentType: 'application/x-protobuf',
      contentEncoding: undefined,
      body,
      attemptId: 'a',
      maxBodyBytes: 1 << 20,
      now: 0,
    },
  );
  return { kept, answer: Buffer.from(answer.body).toString() };
}

const cut = span('2').subarray(0, 30);
const notUtf8 = Uint8Array.of(0x68, 0xff, 0x69);

describe('malformed protobuf', () => {
  it('loses the span that is malformed, and no neighbour at any level', async () => {
    const { kept, answer } = await receive(
      Buffer.concat([
        group(spansOf(span('1'), cut, span('3')), spansOf(span('4'))),
        field(1, Uint8Array.of(0x12, 0x7f)),
        group(spansOf(span('5'))),
      ]),
    );
    expect(kept).toEqual(['1', '3', '4', '5']);
    expect(answer).toContain('resourceSpans[0].scopeSpans[0].spans[1]: it is malformed');
    expect(answer).toContain('resourceSpans[1]: nothing in it can be read');
    expect(answer).not.toContain('spans[0]');
  });

  it('keeps what came before the end of a body that was cut', async () => {
    const whole = Buffer.concat([group(spansOf(span('1'))), group(spansOf(span('2')))]);
    const { kept, answer } = await receive(whole.subarray(0, whole.length - 5));
    expect(kept).toEqual(['1']);
    expect(answer).toContain('resourceSpans[1]: the rest is malformed');
  });

  it('refuses a text that is not UTF-8 by name, and takes a replacement character that was sent', async () => {
    const { kept, answer } = await receive(group(spansOf(span('1', notUtf8), span('2', 'a\uFFFD'))));
    expect(kept).toEqual(['a\uFFFD']);
    expect(answer).toContain('spans[0]: it is malformed: The encoded data was not valid for encoding utf-8');
  });

  it('keeps log records the same way', async () => {
    const record = (name: Uint8Array | string) => field(12, name);
    const { kept, answer } = await receive(group(spansOf(record(notUtf8), record('good'))), 'logs');
    expect(kept).toEqual(['good']);
    expect(answer).toContain('logRecords[0]');
  });

  it.each([
    ['only malformed spans', group(spansOf(cut))],
    ['no message', Uint8Array.of(0x0a, 0xff, 0xff)],
  ])('is refused as a whole when there is %s', async (_, body) => {
    await expect(receive(body)).rejects.toMatchObject({ code: 'invalid_protobuf' });
  });
});
