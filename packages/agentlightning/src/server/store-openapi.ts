import { z } from 'zod';
import { archivePath } from '../store/http/archive.ts';
import { nothing } from '../store/http/verb.ts';
import type { StoreStream } from '../store/http/verbs.ts';
import { storePath, storeStreams, storeVerbs } from '../store/http/verbs.ts';
import { errorBody } from '../store/http/wire-errors.ts';
import { closeRequest, openRequest } from './mount-sessions.ts';

type JsonSchema = Record<string, unknown>;

/** The store's API as paths of an OpenAPI document, from the table of verbs. */
export function storePaths(): Record<string, object> {
  const plain = Object.entries(storeVerbs).map(([name, verb]) => {
    const answer = { description: 'Done.', content: { 'application/json': { schema: toSchema(verb.response) } } };
    return [storePath(name), operation(name, { ...verb, answer })];
  });
  const streams = Object.entries(storeStreams).map(([name, stream]) => {
    const schema = { type: 'string', description: `Data of each event: ${JSON.stringify(toSchema(stream.event))}` };
    const answer = { description: 'Server-sent events.', content: { 'text/event-stream': { schema } } };
    return [storePath(name), operation(name, { ...stream, answer })];
  });
  return Object.fromEntries([...plain, ...streams, ...sessionPaths(), archive()]) as Record<string, object>;
}

function sessionPaths(): [string, object][] {
  const answered = (schema: JsonSchema) => ({ description: 'Done.', content: { 'application/json': { schema } } });
  const token = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] };
  const open = {
    about: 'The token of an attempt that the asking worker holds, for its agent; it dies with the attempt.',
    request: openRequest,
    answer: answered(token),
  };
  const close = { about: 'Ends the token of an attempt.', request: closeRequest, answer: answered({ type: 'object' }) };
  const both = { method: 'POST', scope: 'controller' } as const;
  return [
    ['/agl/v1/sessions/open', operation('openSession', { ...both, ...open })],
    ['/agl/v1/sessions/close', operation('closeSession', { ...both, ...close })],
  ];
}

function archive(): [string, object] {
  const schema = { type: 'string', description: 'An archive of `agl export`, a JSON object in each line.' };
  const answer = { description: 'Everything.', content: { 'application/jsonl': { schema } } };
  const about = 'Everything that the store has, at one moment.';
  return [archivePath, operation('archive', { method: 'GET', scope: 'admin', about, request: nothing, answer })];
}

interface Described extends Pick<StoreStream, 'method' | 'scope' | 'about' | 'request'> {
  answer: object;
}

function operation(name: string, { method, scope, about, request, answer }: Described): object {
  const schema = toSchema(request);
  const asked =
    method === 'POST'
      ? { requestBody: { required: true, content: { 'application/json': { schema } } } }
      : { parameters: queryParameters(schema) };
  return {
    [method.toLowerCase()]: {
      operationId: `store_${name}`,
      tags: ['store'],
      summary: about,
      description: `Needs a key of scope ${scope}, or a wider one.`,
      ...asked,
      responses: { 200: answer, default: refusal },
    },
  };
}

const refusal = {
  description: 'Refused.',
  content: { 'application/json': { schema: toSchema(errorBody) } },
};

/** Texts stand in the query as they are, all else as JSON. */
function queryParameters(schema: JsonSchema): object[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  return Object.entries(properties).map(([name, member]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    ...(member.type === 'string' ? { schema: member } : { content: { 'application/json': { schema: member } } }),
  }));
}

/** As it travels. */
function toSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
