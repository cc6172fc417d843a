import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../store/types.ts';
import type { Capabilities } from './capabilities.ts';
import { createChatUpstream } from './chat-way.ts';
import { ModelServer } from './http.ts';
import { chooseModel, type ModelCard, modelCards } from './model-cards.ts';
import { loadModelText, type ModelText } from './model-text.ts';
import type { RemoteUpstream, RemoteUpstreamOptions } from './remote.ts';
import { ServedVersions } from './served-versions.ts';
import { numbersOf, objectOf } from './tokens-from-json.ts';
import { createTokensUpstream } from './tokens-way.ts';
import { completionBody, pieceOf, sampleFromVllm } from './vllm-tokens.ts';

/** A model behind `vllm serve`. Asks it first what it can do. */
export async function createVllmUpstream(options: RemoteUpstreamOptions): Promise<RemoteUpstream> {
  const server = new ModelServer(options);
  const card = chooseModel(await modelCards(server), options);
  const text = await textOf(options, card);
  const found = await probe(server, options, card, text);
  const versions = new ServedVersions({
    first: { modelId: card.id, version: options.policy === null ? null : 0 },
    async load({ version, path }) {
      const modelId = `${options.policy}-${version}`;
      await server.postToAll('/v1/load_lora_adapter', { lora_name: modelId, lora_path: path });
      return { modelId, version };
    },
    async unload({ modelId }) {
      await server.postToAll('/v1/unload_lora_adapter', { lora_name: modelId });
    },
  });
  const named = { name: options.name, policy: options.policy, modelId: card.id, capabilities: found };
  const upstream =
    found.way === 'tokens' && text !== null
      ? createTokensUpstream({
          ...named,
          ...text,
          contextTokens: () => found.contextTokens,
          vocabularySize: () => text.vocabularySize,
          server: {
            sample: (request, tell) => versions.use((model) => sampleFromVllm(server, model, request, tell)),
          },
        })
      : createChatUpstream({ ...named, server, versions });
  const watched = {
    ...upstream,
    obstacle: () => server.obstacle('/health'),
    embed: (body: JsonObject, signal: AbortSignal) =>
      server.post('/v1/embeddings', { ...body, model: card.id }, signal),
  };
  return found.adapters && options.policy !== null
    ? { ...watched, publish: (weights) => versions.publish(weights) }
    : watched;
}

/** The configured folder; else the one that the server itself loaded, where it is on this machine too. */
async function textOf({ tokenizer, formats }: RemoteUpstreamOptions, card: ModelCard): Promise<ModelText | null> {
  const folder = tokenizer ?? (existsSync(join(card.root, 'tokenizer.json')) ? card.root : undefined);
  return folder === undefined ? null : loadModelText(folder, formats);
}

async function probe(
  server: ModelServer,
  { way }: RemoteUpstreamOptions,
  card: ModelCard,
  text: ModelText | null,
): Promise<Capabilities> {
  const version = objectOf(await server.get('/version').catch(() => null)).version;
  const paths = objectOf(objectOf(await server.get('/openapi.json').catch(() => null)).paths);
  const told = await probeTokens(server, card.id);
  const tokens = way !== 'chat' && text !== null && told.tokenInput;
  return {
    ...told,
    server: `vllm ${typeof version === 'string' ? version : 'of unknown version'}`,
    way: tokens ? 'tokens' : 'chat',
    adapters: '/v1/load_lora_adapter' in paths,
    contextTokens: card.contextTokens,
    renderedBy: tokens ? 'folder' : 'server',
    untrainable: missing(told),
  };
}

/** Has one token sampled, to see what is told of it. */
async function probeTokens(
  server: ModelServer,
  modelId: string,
): Promise<Pick<Capabilities, 'tokenInput' | 'tokenIds' | 'logProbs'>> {
  const sampling = { temperature: 1, topP: 1, topK: 0, stop: [] };
  const request = {
    promptIds: Int32Array.of(0),
    maxTokens: 1,
    sampling,
    seed: 0,
    stopIds: [],
    extra: {},
    affinity: '',
  };
  const signal = AbortSignal.timeout(60_000);
  try {
    const { stream_options: _, ...asked } = completionBody(modelId, { ...request, stream: false, signal });
    const body = { ...asked, stream: false };
    const answer = objectOf(await server.post('/v1/completions', body, signal));
    const choice = objectOf((answer.choices as unknown[] | undefined)?.[0]);
    const piece = pieceOf(choice);
    return {
      tokenInput: true,
      tokenIds: piece?.ids?.length === 1 && numbersOf(choice.token_ids) !== null,
      logProbs: piece?.logProbs.length === 1 && Number.isFinite(piece.logProbs[0]),
    };
  } catch {
    return { tokenInput: false, tokenIds: false, logProbs: false };
  }
}

function missing({ tokenIds, logProbs }: Pick<Capabilities, 'tokenIds' | 'logProbs'>): string | null {
  if (!tokenIds) return 'it does not tell token ids (vLLM does since 0.10.2, and not through every proxy)';
  return logProbs ? null : 'it does not tell log probs (start it without --max-logprobs 0)';
}
