import {
  addBias,
  batchedMatmul,
  gatherRows,
  product,
  rotary,
  softCap,
  softmax,
  Tape,
  type Value,
} from '../graph/index.ts';
import {
  attentionScale,
  biasName,
  type DecoderParts,
  embeddingName,
  emitDecoder,
  headName,
  type LayerKind,
  layerKind,
  type ModelConfig,
  parameterShapes,
  rotaryConstants,
} from '../model/index.ts';

/** A size that each run brings along. ONNX Runtime takes a negative dimension for an unknown one. */
const any = -1;

export const keyInput = (layer: number) => `past_keys_${layer}`;
export const valueInput = (layer: number) => `past_values_${layer}`;
export const pastMaskInput = (kind: LayerKind) => (kind === 'full' ? 'past_mask' : 'past_mask_sliding');
export const causalMaskInput = (kind: LayerKind) => (kind === 'full' ? 'causal_mask' : 'causal_mask_sliding');

/** Kinds of layers that the model has. */
export function layerKinds(config: ModelConfig): Set<LayerKind> {
  return new Set(Array.from({ length: config.layers }, (_, layer) => layerKind(config, layer)));
}

/**
 * One graph for reading prompts and for sampling: B rows of T new tokens each, over a cache of S earlier positions. A whole prompt
 * at once has S = 0, one decoding step has T = 1, a part of a long prompt has both. B, T and S are free, so one session
 * serves every step of every batch; all weights are inputs, so publishing new ones costs no new session.
 *
 * Inputs beside the weights: `ids` int64 [B·T]; `positions` int64 [B, T]; `last` int64 [B], indices into the B·T tokens;
 * `past_mask` [B, 1, 1, S], 0 or `maskedScore`; `causal_mask` [1, 1, groupSize·T, T]; for layers with a sliding window
 * `past_mask_sliding` [B, 1, groupSize·T, S] and `causal_mask_sliding` likewise; keys and values per layer [B, kvHeads, S, headSize].
 * Outputs: `logits` [B, vocabulary] of each row's `last` token; `fresh` [B, layers·2·kvHeads, T, headSize], per layer the new keys, then the
 * new values. The cache itself is not an output, because the Node binding copies every output.
 */
export function buildStepGraph(config: ModelConfig): Uint8Array {
  const { hiddenSize, layers, kvHeads, headSize, vocabularySize } = config;
  const tape = new Tape();
  const weights = new Map<string, Value>();
  for (const [name, shape] of parameterShapes(config)) weights.set(name, tape.input(name, 'float32', shape));
  const weight = (name: string) => weights.get(name)!;
  const ids = tape.input('ids', 'int64', [any]);
  const fresh: Value[] = [];
  const parts: DecoderParts = {
    project: (x, names) =>
      names.map((name) => {
        const bias = weights.get(biasName(name));
        const y = product(tape, x, weight(name));
        return bias === undefined ? y : addBias(tape, y, bias);
      }),
    vector: weight,
    attend: cachedAttention(tape, config, fresh),
  };
  const hidden = emitDecoder(tape, config, gatherRows(tape, weight(embeddingName), ids), parts);
  const last = tape.input('last', 'int64', [any]);
  const wanted = tape.emit('Gather', [hidden, last], [any, hiddenSize]);
  const logits = product(tape, wanted, weight(headName(config)), { transposeB: true });
  const capped = config.logitSoftCap === undefined ? logits : softCap(tape, logits, config.logitSoftCap);
  tape.output('logits', { ...capped, shape: [any, vocabularySize] });
  const stacked = [any, layers * 2 * kvHeads, any, headSize];
  tape.output('fresh', tape.emit('Concat', fresh, stacked, { attributes: { axis: 1 } }));
  return tape.graph.build();
}

/** Attention of the new tokens to the cache and, causally, to each other. New keys and values are added to `fresh`. */
function cachedAttention(tape: Tape, config: ModelConfig, fresh: Value[]): DecoderParts['attend'] {
  const { heads, kvHeads, headSize } = config;
  const groupSize = heads / kvHeads;
  const positions = tape.input('positions', 'int64', [any, any]);
  const constants = new Map(
    [...layerKinds(config)].map((kind) => [
      kind,
      {
        pastMask: tape.input(pastMaskInput(kind), 'float32', [any, 1, kind === 'full' ? 1 : any, any]),
        causalMask: tape.input(causalMaskInput(kind), 'float32', [1, 1, any, any]),
        rope: rotaryConstants(tape, config, { positions, count: config.maxTokens, kind }),
      },
    ]),
  );
  const batchAndWidth = tape.emit('Shape', [positions], [2]);
  const width = tape.emit('Gather', [batchAndWidth, tape.int64([1])], [1]);
  const reshape = (x: Value, ...sizes: (number | Value)[]) => {
    const pieces = sizes.map((size) => (typeof size === 'number' ? tape.int64([size]) : size));
    const target = tape.emit('Concat', pieces, [pieces.length], { attributes: { axis: 0 } });
    return tape.emit('Reshape', [x, target], Array(sizes.length).fill(any));
  };
  const transpose = (x: Value, perm: number[]) => tape.emit('Transpose', [x], x.shape, { attributes: { perm } });
  /** The width stands in the shape, because a rotation of a part needs to know the heads. */
  const inRows = (x: Value, size: number) => ({ ...reshape(x, batchAndWidth, size), shape: [any, any, size] });
  const keyRows = (x: Value) => transpose(reshape(x, batchAndWidth, kvHeads, headSize), [0, 2, 1, 3]);
  const scored = (queries: Value, keys: Value, mask: Value) => {
    const scores = batchedMatmul(tape, queries, keys, { transposeB: true, alpha: attentionScale(config) });
    const capped = config.attentionSoftCap === undefined ? scores : softCap(tape, scores, config.attentionSoftCap);
    return tape.emit('Add', [capped, mask], scores.shape);
  };
  return (layer, q, k, v) => {
    const { rope, pastMask, causalMask } = constants.get(layerKind(config, layer))!;
    const rotated = (x: Value, size: number) => rotary(tape, inRows(x, size), rope);
    const cacheShape = [any, kvHeads, any, headSize];
    const pastKeys = tape.input(keyInput(layer), 'float32', cacheShape);
    const pastValues = tape.input(valueInput(layer), 'float32', cacheShape);
    const keys = keyRows(rotated(k, kvHeads * headSize));
    const values = keyRows(v);
    fresh.push(keys, values);
    const grouped = reshape(rotated(q, heads * headSize), batchAndWidth, kvHeads, groupSize, headSize);
    const queries = reshape(transpose(grouped, [0, 2, 3, 1, 4]), 0, kvHeads, any, headSize);
    const scores = [scored(queries, pastKeys, pastMask), scored(queries, keys, causalMask)];
    const all = softmax(tape, tape.emit('Concat', scores, scores[0]!.shape, { attributes: { axis: -1 } }));
    const pastLength = tape.emit('Gather', [tape.emit('Shape', [pastKeys], [4]), tape.int64([2])], [1]);
    const columns = (from: Value, to: Value) => tape.emit('Slice', [all, from, to, tape.int64([3])], all.shape);
    const past = batchedMatmul(tape, columns(tape.int64([0]), pastLength), pastValues);
    const present = batchedMatmul(tape, columns(pastLength, tape.int64([Number.MAX_SAFE_INTEGER])), values);
    const mixed = reshape(tape.emit('Add', [past, present], past.shape), 0, kvHeads, groupSize, width, headSize);
    return reshape(transpose(mixed, [0, 3, 1, 2, 4]), any, heads * headSize);
  };
}
