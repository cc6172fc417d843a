import { readFileSync } from 'node:fs';
import type { Dialect } from '../gateway/index.ts';
import { storePaths } from './store-openapi.ts';

type JsonSchema = Record<string, unknown>;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const reward: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200, default: 'reward' },
    value: { type: ['number', 'null'], description: 'null: known to be missing, which is not 0' },
    attemptId: { type: 'string', description: 'the own one' },
  },
  required: ['value'],
  additionalProperties: false,
};

const json = (schema: JsonSchema) => ({ 'application/json': { schema } });
const anyObject: JsonSchema = { type: 'object', additionalProperties: true };
const text = (description: string) => ({ description, content: { 'text/plain': { schema: { type: 'string' } } } });
const refusal = { description: "Refused; the body has the protocol's own form of an error.", content: json(anyObject) };

/**
 * The server as OpenAPI 3.1. Bodies of model calls are described as far as we read them: their protocols belong to others,
 * and unknown fields pass.
 *
 * @param options.store the server has the store's API
 */
export function describeServer(dialects: readonly Dialect[], { store = false }: { store?: boolean } = {}) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Lightning',
      version,
      description: 'The gateway that agents call as their model, and what stands beside it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'the token alone names the attempt' },
      {
        url: '/rollout/{rolloutId}/attempt/{attempt}',
        description: 'model calls and traces; the token must belong to this attempt',
        variables: { rolloutId: { default: 'ROLLOUT' }, attempt: { default: '1' } },
      },
      {
        url: '/agent/{agentName}',
        description: 'model calls of one agent',
        variables: { agentName: { default: 'AGENT' } },
      },
    ],
    security: [{ bearer: [] }, { apiKey: [] }, { googleKey: [] }, { queryKey: [] }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        googleKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
        queryKey: { type: 'apiKey', in: 'query', name: 'key' },
      },
    },
    paths: { ...modelPaths(dialects), ...ownPaths(), ...operationPaths(), ...(store ? storePaths() : {}) },
  };
}

function modelPaths(dialects: readonly Dialect[]): Record<string, object> {
  const paths: Record<string, object> = {
    '/v1/models': { get: { ...answered('The models that may be called.'), operationId: 'listModels' } },
    '/v1/models/{model}': {
      get: { ...answered('One of them.'), operationId: 'getModel', parameters: [parameter('model')] },
    },
    '/v1beta/models': { get: { ...answered('The same as Gemini lists them.'), operationId: 'listGeminiModels' } },
    // OpenAPI knows a path by its shape, so this is the one that Gemini's calls are posted to.
    '/v1beta/models/{call}': {
      get: { ...answered('One of them.'), operationId: 'getGeminiModel', parameters: [parameter('call')] },
    },
    '/v1/embeddings': {
      post: {
        ...posted(['model', 'input']),
        ...answered("The embeddings of the model's server; not recorded."),
        operationId: 'embed',
      },
    },
  };
  for (const { name, about, paths: below } of dialects) {
    // `/v1/v1/…` is for clients that double it, and no path of its own.
    for (const path of below.filter((each) => !each.startsWith('/v1/'))) {
      const url = path.startsWith('/v1beta/') ? path : `/v1${path}`;
      const parameters = url.endsWith('/*') ? [parameter('call')] : [];
      const known = url.replace('/*', '/{call}');
      paths[known] = {
        ...paths[known],
        post: {
          ...posted(about.required),
          ...answered(`${about.summary}. With "stream", server-sent events.`),
          operationId: `${name}${path.replaceAll(/[^a-z]+/gi, '_')}`,
          externalDocs: { url: about.reference },
          parameters: [...parameters, idempotencyKey, agent],
        },
      };
    }
  }
  return paths;
}

const parameter = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });
const idempotencyKey = {
  ...{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 1, maxLength: 255 } },
  description: 'The same request under the same key gets the recorded answer again.',
};
const agent = {
  ...{ name: 'x-agl-agent', in: 'header', schema: { type: 'string', maxLength: 100 } },
  description: 'Which role of a multi-agent system makes the call.',
};

function ownPaths(): Record<string, object> {
  const otlp = { 'application/x-protobuf': { schema: {} }, ...json(anyObject) };
  const received = (signal: string) => ({
    post: {
      summary: `OTLP ${signal} of the attempt.`,
      operationId: `export_${signal}`,
      requestBody: { required: true, content: otlp },
      responses: {
        200: { description: 'Kept; a partial success counts what was not.', content: otlp },
        default: refusal,
      },
    },
  });
  return {
    '/v1/traces': received('traces'),
    '/v1/logs': received('logs'),
    '/agl/v1/prompts': {
      get: { ...answered('The prompts of the attempt, or the latest ones.'), operationId: 'listPrompts' },
    },
    '/agl/v1/prompts/{name}': {
      get: { ...answered('One of them.'), operationId: 'getPrompt', parameters: [parameter('name')] },
    },
    '/agl/v1/rewards': {
      post: {
        summary: 'A reward that an agent gives its own attempt.',
        operationId: 'addReward',
        requestBody: { required: true, content: json(reward) },
        responses: { 201: { description: 'Kept.', content: json(anyObject) }, default: refusal },
      },
    },
  };
}

function operationPaths(): Record<string, object> {
  return {
    '/healthz': {
      get: {
        security: [],
        operationId: 'health',
        responses: { 200: { description: 'The process lives.', content: json(anyObject) } },
      },
    },
    '/readyz': {
      get: {
        ...{ security: [], operationId: 'readiness' },
        responses: {
          200: { description: 'Calls can be answered and recorded.', content: json(anyObject) },
          503: { description: 'They cannot; the body lists why.', content: json(anyObject) },
        },
      },
    },
    '/metrics': { get: { operationId: 'metrics', responses: { 200: text('Prometheus.'), default: refusal } } },
    '/openapi.json': {
      get: {
        security: [],
        operationId: 'describe',
        responses: { 200: { description: 'This.', content: json(anyObject) } },
      },
    },
  };
}

const posted = (required: readonly string[]) => ({
  requestBody: { required: true, content: json({ ...anyObject, required: [...required] }) },
});
const answered = (summary: string) => ({
  summary,
  responses: { 200: { description: 'The answer.', content: json(anyObject) }, default: refusal },
});
