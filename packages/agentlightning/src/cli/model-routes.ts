import type { ModelConfig } from '../config/index.ts';
import { UserError } from '../errors.ts';
import type { Route } from '../gateway/index.ts';
import { capabilityStatement, toolCallFormats, upstreamKinds } from '../upstreams/index.ts';

export interface ModelRoutesOptions {
  models: readonly ModelConfig[];
  env: Readonly<Record<string, string | undefined>>;
  /** Told one line for each server: what it can do. */
  note: (line: string) => void;
}

/**
 * Routes to the configured model servers, each of which is asked what it can do.
 *
 * @throws {UserError} for a key that is not set, or a model that is not served
 * @throws {UpstreamError} for a server that does not answer
 */
export async function openModelRoutes({ models, env, note }: ModelRoutesOptions): Promise<Route[]> {
  const routes = await Promise.all(
    models.map(async (model) => ({
      ...{ alias: model.alias, upstream: await openModel(model, env), recorded: model.recorded },
      ...(model.agentName === undefined ? {} : { agentName: model.agentName }),
    })),
  );
  for (const { alias, upstream } of routes)
    if (upstream.capabilities !== undefined) note(capabilityStatement(alias, upstream.capabilities));
  return routes;
}

function openModel(model: ModelConfig, env: ModelRoutesOptions['env']) {
  const kind = upstreamKinds.find(({ name }) => name === model.upstream)!;
  const format = toolCallFormats.find(({ name }) => name === model.toolCalls);
  return kind.create({
    ...{ name: model.alias, url: model.url, policy: model.policy ?? null },
    firstByteTimeoutMs: model.firstByteTimeoutSeconds * 1000,
    idleTimeoutMs: model.idleTimeoutSeconds * 1000,
    retries: model.retries,
    formats: {
      ...(format === undefined ? {} : { toolCalls: format }),
      ...(model.thinking === undefined ? {} : { thinking: model.thinking }),
    },
    ...(model.model === undefined ? {} : { modelId: model.model }),
    ...(model.tokenizer === undefined ? {} : { tokenizer: model.tokenizer }),
    ...(model.way === undefined ? {} : { way: model.way }),
    ...(model.apiKeyEnv === undefined ? {} : { apiKey: keyOf(model, model.apiKeyEnv, env) }),
  });
}

function keyOf({ alias }: ModelConfig, variable: string, env: ModelRoutesOptions['env']): string {
  const key = env[variable];
  if (key) return key;
  throw new UserError({
    code: 'api_key_missing',
    message: `The model "${alias}" wants the key of the environment variable ${variable}, which is not set.`,
    hint: `Set ${variable}, or leave "apiKeyEnv" out for a server without a key.`,
  });
}
