import { ChatTemplate } from '@agentlightning/engine';
import type { JsonObject } from '../store/types.ts';
import type { Capabilities } from './capabilities.ts';
import { formatsOf } from './formats.ts';
import { ModelServer } from './http.ts';
import { sampleFromLlamacpp } from './llamacpp-tokens.ts';
import { loadModelText, type ModelText } from './model-text.ts';
import type { RemoteUpstream, RemoteUpstreamOptions } from './remote.ts';
import { numbersOf, objectOf } from './tokens-from-json.ts';
import { createTokensUpstream, type TokensWayOptions } from './tokens-way.ts';
import { UpstreamError } from './upstream-error.ts';

type Text = Pick<
  TokensWayOptions,
  'tokenizer' | 'template' | 'endOfTurnId' | 'stopIds' | 'createDecoder' | 'formats' | 'encode' | 'serverText'
>;

/**
 * A model behind `llama-server`. Without a tokenizer folder the server's own template and tokenizer are used: a GGUF file
 * brings both. It cannot be given new weights while it runs.
 */
export async function createLlamacppUpstream(options: RemoteUpstreamOptions): Promise<RemoteUpstream> {
  const server = new ModelServer(options);
  const props = objectOf(await server.get('/props'));
  const contextTokens = objectOf(props.default_generation_settings).n_ctx;
  const text: Text =
    options.tokenizer === undefined
      ? await serverText(server, props, options)
      : await loadModelText(options.tokenizer, options.formats);
  const found: Capabilities = {
    server: `llama.cpp ${String(props.build_info ?? 'of unknown build')}`,
    ...{ way: 'tokens', tokenInput: true, tokenIds: true, logProbs: true, adapters: false },
    renderedBy: options.tokenizer === undefined ? 'server' : 'folder',
    contextTokens: typeof contextTokens === 'number' ? contextTokens : null,
    untrainable: null,
  };
  const upstream = createTokensUpstream({
    ...{ name: options.name, policy: options.policy, modelId: options.modelId ?? options.name, capabilities: found },
    ...text,
    contextTokens: () => found.contextTokens,
    vocabularySize: () => null,
    server: {
      sample: (request, tell) => sampleFromLlamacpp(server, options.policy === null ? null : 0, request, tell),
    },
  });
  return {
    ...upstream,
    obstacle: () => server.obstacle('/health'),
    embed: (body: JsonObject, signal: AbortSignal) =>
      server.post('/v1/embeddings', { ...body, model: upstream.modelId }, signal),
  };
}

/** The template is rendered here, text becomes ids at the server, and its text is what clients read. */
async function serverText(
  server: ModelServer,
  props: Record<string, unknown>,
  { formats, name }: RemoteUpstreamOptions,
): Promise<Text> {
  const { chat_template: source, bos_token: bosToken = '', eos_token: eosToken } = props;
  if (typeof source !== 'string' || typeof eosToken !== 'string') throw withoutTemplate(name);
  const encode = async (text: string, signal?: AbortSignal) => {
    const body = { content: text, add_special: false, parse_special: true };
    return numbersOf(objectOf(await server.post('/tokenize', body, signal)).tokens) ?? [];
  };
  const [endOfTurnId, ...rest] = await encode(eosToken);
  if (endOfTurnId === undefined || rest.length > 0) throw withoutTemplate(name);
  const tokens = { bos_token: bosToken, eos_token: eosToken };
  const tokenizer: ModelText['tokenizer'] = {
    encode: () => {
      throw new Error('This tokenizer is asked over the network.');
    },
    decode: (ids) => (ids.length === 1 && ids[0] === endOfTurnId ? eosToken : ''),
  };
  return {
    ...{ tokenizer, template: new ChatTemplate(source, tokens, `the template of ${name}`), endOfTurnId, encode },
    ...{ stopIds: [endOfTurnId], serverText: true, formats: { ...formatsOf(source), ...formats } },
    createDecoder: () => ({ push: () => '', finish: () => '' }),
  };
}

function withoutTemplate(name: string): UpstreamError {
  return new UpstreamError({
    code: 'tokenizer_missing',
    category: 'user',
    status: 500,
    message: `The model service "${name}" tells neither a chat template nor an end token.`,
    hint: 'Set "tokenizer" to the folder with the model\'s tokenizer.json and chat template.',
  });
}
