import { createEmbeddedSampler, type EmbeddedSampler, modelFolder } from '@agentlightning/engine';
import type { ModelConfig, ServerConfig } from '../config/index.ts';
import { UserError } from '../errors.ts';
import type { Route } from '../gateway/index.ts';
import {
  capabilityStatement,
  createEmbeddedUpstream,
  modelText,
  toolCallFormats,
  type Upstream,
  upstreamKinds,
} from '../upstreams/index.ts';
import type { Closing } from './closing.ts';
import { progressLines } from './download-progress.ts';

export interface ModelRoutesOptions {
  models: readonly ModelConfig[];
  env: Readonly<Record<string, string | undefined>>;
  /** Told one line for each server: what it can do. */
  note: (line: string) => void;
  /** Gets what must be closed. */
  closing: Closing;
}

/**
 * Routes to the configured models. Each server is asked what it can do; aliases of the same frozen folder share its weights.
 *
 * @throws {UserError} for a key that is not set, or a model that is not served
 * @throws {UpstreamError} for a server that does not answer
 * @throws {EngineError} for a folder that cannot be loaded
 */
export async function openModelRoutes({ models, env, note, closing }: ModelRoutesOptions): Promise<Route[]> {
  const openFrozen = frozenModels({ note, closing });
  const routes = await Promise.all(
    models.map(async (model) => ({
      alias: model.alias,
      upstream: model.upstream === 'embedded' ? await openFrozen(model) : await openServer(model, env),
      recorded: model.recorded,
      ...(model.agentName === undefined ? {} : { agentName: model.agentName }),
    })),
  );
  for (const { alias, upstream } of routes)
    if (upstream.capabilities !== undefined) note(capabilityStatement(alias, upstream.capabilities));
  return routes;
}

/** Opens frozen models, each folder once. */
function frozenModels({ note, closing }: Pick<ModelRoutesOptions, 'note' | 'closing'>) {
  const samplers = new Map<string, Promise<{ folder: string; engine: EmbeddedSampler }>>();
  const open = async (model: string) => {
    const folder = await modelFolder(model, { onProgress: progressLines(note) });
    const engine = await createEmbeddedSampler({ folder, onWarning: note });
    closing.add(() => engine.close());
    return { folder, engine };
  };
  return async ({ alias, model }: { alias: string; model: string }): Promise<Upstream> => {
    if (!samplers.has(model)) samplers.set(model, open(model));
    const { folder, engine } = await samplers.get(model)!;
    const { tokenizer, template, eosIds } = engine;
    const text = await modelText({ folder, tokenizer, template, eosIds });
    return createEmbeddedUpstream({ ...text, name: 'embedded', policy: null, modelId: alias, engine });
  };
}

function openServer(model: ServerConfig, env: ModelRoutesOptions['env']) {
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

function keyOf({ alias }: ServerConfig, variable: string, env: ModelRoutesOptions['env']): string {
  const key = env[variable];
  if (key) return key;
  throw new UserError({
    code: 'api_key_missing',
    message: `The model "${alias}" wants the key of the environment variable ${variable}, which is not set.`,
    hint: `Set ${variable}, or leave "apiKeyEnv" out for a server without a key.`,
  });
}
