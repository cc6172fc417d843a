import { expect, it } from 'vitest';
import { agentEnvironment, attemptEnvironment } from './environment.ts';

const options = {
  baseUrl: 'http://127.0.0.1:8000/',
  token: 'agl-t/k',
  rolloutId: 'run 1',
  attemptId: 'a1',
  attemptNumber: 2,
  model: 'policy',
  taskJson: '{"question":"q"}',
  taskFile: '/scratch/task.json',
};

it('leads every SDK to the gateway as this attempt', () => {
  expect(attemptEnvironment(options)).toEqual({
    OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1',
    OPENAI_API_BASE: 'http://127.0.0.1:8000/v1',
    OPENAI_API_KEY: 'agl-t/k',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:8000',
    ANTHROPIC_API_KEY: 'agl-t/k',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:8000',
    GEMINI_API_KEY: 'agl-t/k',
    AGL_TASK: '{"question":"q"}',
    AGL_TASK_FILE: '/scratch/task.json',
    AGL_ROLLOUT_ID: 'run 1',
    AGL_ATTEMPT_ID: 'a1',
    AGL_ENDPOINT: 'http://127.0.0.1:8000',
    AGL_MODEL: 'policy',
    AGL_OPENAI_BASE_URL: 'http://127.0.0.1:8000/rollout/run%201/attempt/2/v1',
    AGL_EVENT_URL: 'http://127.0.0.1:8000/api/rollouts/run%201/attempt/2/events',
    AGL_KEY: 'agl-t/k',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:8000',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20agl-t%2Fk',
    OTEL_RESOURCE_ATTRIBUTES: 'agl.rollout_id=run%201,agl.attempt_id=a1',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    CREWAI_DISABLE_TELEMETRY: 'true',
    MASTRA_TELEMETRY_DISABLED: '1',
    ANONYMIZED_TELEMETRY: 'false',
    DO_NOT_TRACK: '1',
  });
});

it('leaves a large task to its file: one variable must stay under the limit of the system', () => {
  const inline = (bytes: number) => 'AGL_TASK' in attemptEnvironment({ ...options, taskJson: 'ä'.repeat(bytes / 2) });
  expect([inline(32 * 1024), inline(32 * 1024 + 2)]).toEqual([true, false]);
});

it('inherits only what is harmless', () => {
  const parent = {
    PATH: '/bin',
    Path: 'C:\\',
    LC_ALL: 'C',
    AWS_SECRET_ACCESS_KEY: 's',
    OPENAI_API_KEY: 'real',
    NODE_OPTIONS: '-r x',
  };
  expect(agentEnvironment(parent, { MODE: 'test' })).toEqual({ PATH: '/bin', Path: 'C:\\', LC_ALL: 'C', MODE: 'test' });
});
