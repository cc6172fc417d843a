import protobuf from 'protobufjs/light.js';
import type { Signal } from './batch.ts';
import { FieldError } from './fields.ts';

/** The one type whose fields exclude each other: protobufjs then tells an empty text from none. */
const oneOf = 'AnyValue';

/** Field numbers of OTLP 1 (opentelemetry.proto.*.v1) that are read here; what is not listed is skipped, as protobuf has it. */
const types: Record<string, Record<string, readonly [type: string, id: number]>> = {
  TracesRequest: { resourceSpans: ['*ResourceSpans', 1] },
  ResourceSpans: { resource: ['Resource', 1], scopeSpans: ['*ScopeSpans', 2] },
  ScopeSpans: { scope: ['Scope', 1], spans: ['*Span', 2] },
  Span: {
    traceId: ['bytes', 1],
    spanId: ['bytes', 2],
    parentSpanId: ['bytes', 4],
    name: ['string', 5],
    kind: ['int32', 6],
    startTimeUnixNano: ['fixed64', 7],
    endTimeUnixNano: ['fixed64', 8],
    attributes: ['*KeyValue', 9],
    events: ['*Event', 11],
    links: ['*Link', 13],
    status: ['Status', 15],
  },
  Event: { timeUnixNano: ['fixed64', 1], name: ['string', 2], attributes: ['*KeyValue', 3] },
  Link: { traceId: ['bytes', 1], spanId: ['bytes', 2], attributes: ['*KeyValue', 4] },
  Status: { message: ['string', 2], code: ['int32', 3] },
  LogsRequest: { resourceLogs: ['*ResourceLogs', 1] },
  ResourceLogs: { resource: ['Resource', 1], scopeLogs: ['*ScopeLogs', 2] },
  ScopeLogs: { scope: ['Scope', 1], logRecords: ['*LogRecord', 2] },
  LogRecord: {
    timeUnixNano: ['fixed64', 1],
    severityText: ['string', 3],
    body: ['AnyValue', 5],
    attributes: ['*KeyValue', 6],
    traceId: ['bytes', 9],
    spanId: ['bytes', 10],
    observedTimeUnixNano: ['fixed64', 11],
    eventName: ['string', 12],
  },
  Resource: { attributes: ['*KeyValue', 1] },
  Scope: { name: ['string', 1] },
  KeyValue: { key: ['string', 1], value: ['AnyValue', 2] },
  AnyValue: {
    stringValue: ['string', 1],
    boolValue: ['bool', 2],
    intValue: ['int64', 3],
    doubleValue: ['double', 4],
    arrayValue: ['ArrayValue', 5],
    kvlistValue: ['KeyValueList', 6],
    bytesValue: ['bytes', 7],
  },
  ArrayValue: { values: ['*AnyValue', 1] },
  KeyValueList: { values: ['*KeyValue', 1] },
  Answer: { partialSuccess: ['PartialSuccess', 1] },
  PartialSuccess: { rejected: ['int64', 1], errorMessage: ['string', 2] },
  // google.rpc.Status, which OTLP answers failures with.
  Failure: { code: ['int32', 1], message: ['string', 2] },
};

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(types).map(([name, fields]) => [
      name,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, [type, id]]) => [
            field,
            type.startsWith('*') ? { rule: 'repeated', type: type.slice(1), id } : { type, id },
          ]),
        ),
        ...(name === oneOf ? { oneofs: { value: { oneof: Object.keys(fields) } } } : {}),
      },
    ]),
  ),
});

/**
 * An export request in the shape of OTLP's JSON form, with ids and other bytes as bytes. Of one that is malformed in places the
 * rest is kept: a part that cannot be read is a {@link FieldError} in its place.
 *
 * @throws {Error} when nothing can be read
 */
export function decodeRequest(body: Uint8Array, signal: Signal): Record<string, unknown> {
  try {
    return decode(levels[signal][0]!, body);
  } catch (error) {
    const salvaged = salvage(levels[signal], body);
    if (salvaged instanceof FieldError) throw error;
    return salvaged;
  }
}

type Decoded = Record<string, unknown>;

function decode(type: string, body: Uint8Array): Decoded {
  const found = root.lookupType(type);
  return found.toObject(found.decode(body), { longs: String });
}

/** The messages around single spans and records, outermost first. */
const levels: Record<Signal, readonly string[]> = {
  traces: ['TracesRequest', 'ResourceSpans', 'ScopeSpans', 'Span'],
  logs: ['LogsRequest', 'ResourceLogs', 'ScopeLogs', 'LogRecord'],
};

/** Reads field by field what is malformed as a whole, down to single items. */
function salvage([type, ...inner]: readonly string[], body: Uint8Array): Decoded | FieldError {
  try {
    return decode(type!, body);
  } catch (error) {
    if (inner.length === 0) return new FieldError(`it is malformed: ${(error as Error).message}`);
  }
  const fields = Object.entries(types[type!]!);
  const message: Decoded = {};
  let read = 0;
  const reader = protobuf.Reader.create(body);
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const [name, [kind]] = fields.find(([, [, id]]) => id === tag >>> 3) ?? ['', ['', 0]];
      if (name === '' || (tag & 7) !== lengthDelimited) {
        reader.skipType(tag & 7);
      } else if (kind === `*${inner[0]}`) {
        const item = salvage(inner, reader.bytes());
        message[name] = [...((message[name] as unknown[] | undefined) ?? []), item];
        if (!(item instanceof FieldError)) read += 1;
      } else {
        message[name] = salvage([kind], reader.bytes());
      }
    }
  } catch (error) {
    const rest = new FieldError(`the rest is malformed: ${(error as Error).message}`);
    const items = fields.find(([, [kind]]) => kind === `*${inner[0]}`)![0];
    message[items] = [...((message[items] as unknown[] | undefined) ?? []), rest];
  }
  return read > 0 ? message : new FieldError('nothing in it can be read');
}

/** Wire type of texts, bytes and messages. */
const lengthDelimited = 2;

export function encodeMessage(
  type: 'Answer' | 'Failure' | 'TracesRequest' | 'Span',
  content: Record<string, unknown>,
): Uint8Array {
  const found = root.lookupType(type);
  return found.encode(found.fromObject(content)).finish();
}
