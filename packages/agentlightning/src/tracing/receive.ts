import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Store } from '../store/store.ts';
import type { ReportedSpan } from '../store/types.ts';
import { readBatch, type Signal, shapes } from './batch.ts';
import { markSkew } from './clock.ts';
import type { Message } from './fields.ts';
import { TracingError } from './tracing-error.ts';
import { decodeRequest, encodeMessage } from './wire-format.ts';

interface OtlpRequest {
  signal: Signal;
  /** Of the headers; `undefined` when absent. */
  contentType: string | undefined;
  contentEncoding: string | undefined;
  body: Uint8Array;
  /** Whose token came with it. What the resource attributes say about the attempt does not count. */
  attemptId: string;
  /** Upper bound of the body after decompression. */
  maxBodyBytes: number;
  /** UTC milliseconds. */
  now: number;
}

export interface OtlpAnswer {
  contentType: string;
  body: Uint8Array;
}

const protobufType = 'application/x-protobuf';
const jsonType = 'application/json';
const unzip = promisify(gunzip);

/**
 * Keeps the spans or log records of an OTLP export request, and their rewards. The answer is in the request's own form and counts what
 * was refused; everything that it does not count is durable.
 *
 * @throws {TracingError} when the request cannot be read as a whole
 */
export async function receiveOtlp(
  store: Pick<Store, 'addSpans' | 'listCalls'>,
  request: OtlpRequest,
): Promise<OtlpAnswer> {
  const form = formOf(request.contentType);
  const body = await decompress(request);
  const batch = readBatch(
    form === 'json' ? parseJson(body) : parseProtobuf(body, request.signal),
    request.signal,
    request.attemptId,
  );
  const warnings = await dropStrayRewards(store, batch.spans, request.attemptId);
  const marked = batch.spans.map(({ span, rewards }) => ({ span: markSkew(span, request.now), rewards }));
  if (marked.length > 0) await store.addSpans(marked);
  return answerBody(form, request.signal, {
    rejected: batch.rejected.length,
    problems: [...batch.rejected, ...warnings],
  });
}

type Form = 'json' | 'protobuf';

function formOf(contentType: string | undefined): Form {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === jsonType) return 'json';
  if (type === protobufType) return 'protobuf';
  throw new TracingError({
    code: 'unsupported_content_type',
    status: 415,
    message: `The content type is ${type === undefined ? 'missing' : `"${type}"`}; ${protobufType} or ${jsonType} was expected.`,
    hint: 'Set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf or http/json; gRPC is not served.',
  });
}

async function decompress({ body, contentEncoding, maxBodyBytes }: OtlpRequest): Promise<Uint8Array> {
  if (contentEncoding === undefined || contentEncoding === 'identity') return body;
  if (contentEncoding !== 'gzip') {
    throw new TracingError({
      code: 'unsupported_content_encoding',
      status: 415,
      message: `The content encoding is "${contentEncoding}"; gzip or none was expected.`,
    });
  }
  try {
    return await unzip(body, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      const message = `The body has more than ${maxBodyBytes} bytes when it is unpacked.`;
      throw new TracingError({
        code: 'body_too_large',
        status: 413,
        message,
        hint: 'Send smaller batches.',
        cause: error,
      });
    }
    throw new TracingError({ code: 'invalid_gzip', message: `The body is not gzip: ${text(error)}.`, cause: error });
  }
}

function parseJson(body: Uint8Array): Message {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    const code = error instanceof SyntaxError ? 'invalid_json' : 'invalid_utf8';
    const what = error instanceof SyntaxError ? 'JSON' : 'UTF-8';
    throw new TracingError({ code, message: `The body is not ${what}: ${text(error)}.`, cause: error });
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Message;
  throw new TracingError({ code: 'invalid_json', message: 'The body is JSON, but not an object.' });
}

function parseProtobuf(body: Uint8Array, signal: Signal): Message {
  try {
    return decodeRequest(body, signal);
  } catch (error) {
    const message = `The body is no export request for ${signal} in protobuf: ${text(error)}.`;
    throw new TracingError({ code: 'invalid_protobuf', message, cause: error });
  }
}

/**
 * A reward for an answer that this attempt never got is nobody's: given to the attempt instead, it would be trained on.
 *
 * @returns a line for each
 */
async function dropStrayRewards(
  store: Pick<Store, 'listCalls'>,
  spans: readonly ReportedSpan[],
  attemptId: string,
): Promise<string[]> {
  if (!spans.some(({ rewards }) => rewards.some(({ callId }) => callId !== null))) return [];
  const calls = new Set((await store.listCalls(attemptId)).map(({ id }) => id));
  const warnings: string[] = [];
  for (const reported of spans) {
    reported.rewards = reported.rewards.filter(({ name, callId }) => {
      if (callId === null || calls.has(callId)) return true;
      warnings.push(`reward "${name}" is for response "${callId}", which is no answer that this attempt got`);
      return false;
    });
  }
  return warnings;
}

interface Outcome {
  rejected: number;
  /** Of the rejected ones, and warnings about others, which OTLP allows beside. */
  problems: string[];
}

function answerBody(form: Form, signal: Signal, { rejected, problems }: Outcome): OtlpAnswer {
  const errorMessage = summary(problems);
  if (form === 'protobuf') {
    const content = problems.length === 0 ? {} : { partialSuccess: { rejected, errorMessage } };
    return { contentType: protobufType, body: encodeMessage('Answer', content) };
  }
  const counter = `rejected${shapes[signal].items.replace(/^./, (first) => first.toUpperCase())}`;
  const content = problems.length === 0 ? {} : { partialSuccess: { [counter]: String(rejected), errorMessage } };
  return { contentType: jsonType, body: jsonBytes(content) };
}

/** A refusal as OTLP clients expect it: google.rpc.Status in the form of the request. */
export function failureBody(contentType: string | undefined, message: string): OtlpAnswer {
  const invalidArgument = 3;
  const status = { code: invalidArgument, message };
  return contentType?.startsWith(protobufType)
    ? { contentType: protobufType, body: encodeMessage('Failure', status) }
    : { contentType: jsonType, body: jsonBytes(status) };
}

function summary(rejected: readonly string[]): string {
  const shown = rejected.slice(0, 10).join('; ');
  return rejected.length > 10 ? `${shown}; and ${rejected.length - 10} more` : shown;
}

function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
