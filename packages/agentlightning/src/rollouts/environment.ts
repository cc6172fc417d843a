import { UserError } from '../errors.ts';

/** Of the parent's environment an agent gets these alone: what programs need to run, and nothing that could be a secret. */
const inherited = new Set(
  [
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS',
    // Windows
    'PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES',
  ].flatMap((names) => names.split(' ')),
);

/** Frameworks that report to their makers unless told otherwise: an attempt's data goes nowhere that the user did not name. */
const silence = {
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  CREWAI_DISABLE_TELEMETRY: 'true',
  MASTRA_TELEMETRY_DISABLED: '1',
  ANONYMIZED_TELEMETRY: 'false',
  DO_NOT_TRACK: '1',
};

/** Linux limits one variable to 128 KiB; a task above this size is only in the file. */
const maxInlineTaskBytes = 32 * 1024;

export interface AttemptEnvironmentOptions {
  /** Of the gateway, without `/v1`. */
  baseUrl: string;
  token: string;
  rolloutId: string;
  attemptId: string;
  attemptNumber: number;
  /** Name under which the agent calls the policy. */
  model: string;
  /** The task's input as JSON. */
  taskJson: string;
  taskFile: string;
  /** The attempt's own working directory, or null. */
  workspace?: string | null;
}

/** The variables that make an unmodified agent talk to the gateway as this attempt (design §4). */
export function attemptEnvironment(options: AttemptEnvironmentOptions): Record<string, string> {
  const { token, rolloutId, attemptId } = options;
  const base = options.baseUrl.replace(/\/+$/, '');
  const path = `rollout/${encodeURIComponent(rolloutId)}/attempt/${options.attemptNumber}`;
  return {
    OPENAI_BASE_URL: `${base}/v1`,
    OPENAI_API_BASE: `${base}/v1`,
    OPENAI_API_KEY: token,
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_API_KEY: token,
    GOOGLE_GEMINI_BASE_URL: base,
    GEMINI_API_KEY: token,
    ...(Buffer.byteLength(options.taskJson) <= maxInlineTaskBytes ? { AGL_TASK: options.taskJson } : {}),
    AGL_TASK_FILE: options.taskFile,
    ...(options.workspace == null ? {} : { AGL_WORKSPACE: options.workspace }),
    AGL_ROLLOUT_ID: rolloutId,
    AGL_ATTEMPT_ID: attemptId,
    AGL_ENDPOINT: base,
    AGL_MODEL: options.model,
    AGL_OPENAI_BASE_URL: `${base}/${path}/v1`,
    AGL_EVENT_URL: `${base}/api/${path.replace('rollout/', 'rollouts/')}/events`,
    AGL_KEY: token,
    OTEL_EXPORTER_OTLP_ENDPOINT: base,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${encodeURIComponent(token)}`,
    OTEL_RESOURCE_ATTRIBUTES: `agl.rollout_id=${encodeURIComponent(rolloutId)},agl.attempt_id=${encodeURIComponent(attemptId)}`,
    ...silence,
  };
}

/**
 * The environment that an agent has beside its attempt: the allowed part of the parent's, and the configuration's own.
 * @throws {UserError} when the configuration sets a variable that belongs to the attempt
 */
export function agentEnvironment(
  parent: NodeJS.ProcessEnv,
  configured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const taken = Object.keys(configured).find((name) => attemptVariables.has(name));
  if (taken !== undefined) {
    throw new UserError({
      code: 'agent_env_reserved',
      message: `agent.env.${taken} cannot be set: each attempt gets its own value, which leads its calls to the gateway.`,
      hint: `Remove ${taken} from agent.env in the configuration.`,
    });
  }
  const allowed = Object.entries(parent).flatMap(([name, value]) =>
    value !== undefined && (inherited.has(name.toUpperCase()) || name.startsWith('LC_')) ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(allowed), ...configured };
}

const attemptVariables: ReadonlySet<string> = new Set(
  Object.keys(
    attemptEnvironment({
      baseUrl: '',
      token: '',
      rolloutId: '',
      attemptId: '',
      attemptNumber: 1,
      model: '',
      taskJson: '',
      taskFile: '',
      workspace: '',
    }),
  ),
);
