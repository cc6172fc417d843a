import type { JsonObject } from '../store/types.ts';
import type { Capabilities } from './capabilities.ts';
import { ModelServer } from './http.ts';
import { chooseModel, modelCards } from './model-cards.ts';
import { loadModelText } from './model-text.ts';
import type { RemoteUpstream, RemoteUpstreamOptions } from './remote.ts';
import { ServedVersions } from './served-versions.ts';
import { generateBody, SglangAnswer, sampleFromSglang } from './sglang-tokens.ts';
import { objectOf } from './tokens-from-json.ts';
import { createTokensUpstream } from './tokens-way.ts';
import { UpstreamError } from './upstream-error.ts';

/** A model behind SGLang, asked through its own `/generate`: its chat endpoint streams no ids, so there is no chat way. */
export async function createSglangUpstream(options: RemoteUpstreamOptions): Promise<RemoteUpstream> {
  const server = new ModelServer(options);
  const card = chooseModel(await modelCards(server), options);
  if (options.tokenizer === undefined || options.way === 'chat') throw needsTokenizer(options.name);
  const text = await loadModelText(options.tokenizer, options.formats);
  const found = await probe(server, card.contextTokens);
  const versions = new ServedVersions({
    first: { modelId: card.id, version: null },
    async load({ version, path }) {
      const modelId = `${options.policy}-${version}`;
      const answers = await server.postToAll('/load_lora_adapter', { lora_name: modelId, lora_path: path });
      const refusal = answers.map(objectOf).find(({ success }) => success === false);
      if (refusal === undefined) return { modelId, version };
      throw new UpstreamError({
        code: 'weights_not_loaded',
        status: 502,
        message: `The model service "${options.name}" did not load ${path}: ${String(refusal.error_message)}`,
      });
    },
    async unload({ modelId }) {
      await server.postToAll('/unload_lora_adapter', { lora_name: modelId });
    },
  });
  const upstream = createTokensUpstream({
    ...{ name: options.name, policy: options.policy, modelId: card.id, capabilities: found },
    ...text,
    contextTokens: () => found.contextTokens,
    vocabularySize: () => text.vocabularySize,
    server: {
      sample: (request, tell) =>
        versions.use((model) =>
          sampleFromSglang(server, model, request, (piece) =>
            // The server's own weights are the policy's first version.
            tell({ ...piece, policyVersion: piece.policyVersion ?? (options.policy === null ? null : 0) }),
          ),
        ),
    },
  });
  const watched = {
    ...upstream,
    obstacle: () => server.obstacle('/health'),
    embed: (body: JsonObject, signal: AbortSignal) =>
      server.post('/v1/embeddings', { ...body, model: card.id }, signal),
  };
  return options.policy === null ? watched : { ...watched, publish: (weights) => versions.publish(weights) };
}

async function probe(server: ModelServer, contextTokens: number | null): Promise<Capabilities> {
  const info = objectOf(await server.get('/server_info').catch(() => null));
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
  const body = { ...generateBody({ ...request, stream: false, signal }, null), stream: false };
  const piece = new SglangAnswer().read(objectOf(await server.post('/generate', body, signal)));
  const tokenIds = piece?.ids?.length === 1;
  const logProbs = piece?.logProbs.length === 1;
  return {
    server: `sglang ${typeof info.version === 'string' ? info.version : 'of unknown version'}`,
    ...{ way: 'tokens', tokenInput: true, tokenIds, logProbs, adapters: true, renderedBy: 'folder' },
    contextTokens: contextTokens ?? (typeof info.context_length === 'number' ? info.context_length : null),
    untrainable: tokenIds ? (logProbs ? null : 'it does not tell log probs') : 'it does not tell token ids',
  };
}

function needsTokenizer(name: string): UpstreamError {
  return new UpstreamError({
    code: 'tokenizer_missing',
    category: 'user',
    status: 500,
    message: `The model service "${name}" runs SGLang, which is asked with token ids alone.`,
    hint: 'Set "tokenizer" to the folder with the model\'s tokenizer.json and chat template, and leave "way" out.',
  });
}
