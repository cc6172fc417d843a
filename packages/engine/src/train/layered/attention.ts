import {
  addMask,
  batchedMatmul,
  concatAxis,
  gatherTokens,
  reshapeAs,
  sliceAxis,
  softCap,
  softmax,
  type Tape,
  transpose,
  type Value,
} from '../../graph/index.ts';
import { attentionScale, type LayerKind, type ModelConfig, maskedScore } from '../../model/index.ts';

/** A size that each run brings along. ONNX Runtime takes a negative dimension for an unknown one. */
const any = -1;

/**
 * Attention over N tokens that lie one row after another. They are laid out as B rows of T slots, with empty slots behind the shorter
 * rows: no token sees those, because they stand after all of its row. Queries are taken in blocks, each of which reads the keys up to
 * its own end only, so scores never exist all at once, and half of them never at all.
 *
 * Inputs of the graph that it declares: `slots` int64 [B, T], the token in each slot, or N where there is none; `slotOf` int64 [N], the
 * place of each token in the B·T slots; and for each block what `blockInputs` names.
 */
export function blockedAttention(tape: Tape, config: ModelConfig, kind: LayerKind, blocks: number) {
  const { heads, kvHeads, headSize } = config;
  const groupSize = heads / kvHeads;
  const slots = tape.input('slots', 'int64', [any, any]);
  const slotOf = tape.input('slotOf', 'int64', [any]);
  const cuts = Array.from({ length: blocks }, (_, block) => declareBlock(tape, config, kind, block));

  /** [N, heads · headSize] → [B, kvHeads, heads / kvHeads, T, headSize] */
  const inSlots = (x: Value, group: number) => {
    const rows = gatherTokens(tape, x, { index: slots, inverse: slotOf, shape: [any, any, x.shape[1]!] });
    const split = reshapeAs(tape, rows, [any, any, kvHeads, group, headSize], {
      forward: [0, 0, kvHeads, group, headSize],
      backward: [0, 0, x.shape[1]!],
    });
    return transpose(tape, split, [0, 2, 3, 1, 4]);
  };
  const flat = (x: Value, group: number) =>
    reshapeAs(tape, x, [any, kvHeads, any, headSize], {
      forward: [0, 0, -1, headSize],
      backward: [0, 0, group, -1, headSize],
    });

  return (q: Value, k: Value, v: Value): Value => {
    const queries = inSlots(q, groupSize);
    const [keys, values] = [flat(inSlots(k, 1), 1), flat(inSlots(v, 1), 1)];
    const mixed = cuts.map((cut) => {
      const part = blocks === 1 ? queries : sliceAxis(tape, queries, { axis: 3, ...cut.queries });
      const seen = (x: Value) => (blocks === 1 ? x : sliceAxis(tape, x, { axis: 2, ...cut.keys }));
      const scores = batchedMatmul(tape, flat(part, groupSize), seen(keys), {
        transposeB: true,
        alpha: attentionScale(config),
      });
      const capped = config.attentionSoftCap === undefined ? scores : softCap(tape, scores, config.attentionSoftCap);
      const weights = softmax(tape, addMask(tape, capped, cut.mask));
      return reshapeAs(tape, batchedMatmul(tape, weights, seen(values)), [any, kvHeads, groupSize, any, headSize], {
        forward: [0, 0, groupSize, -1, headSize],
        backward: [0, 0, -1, headSize],
      });
    });
    const inOrder = transpose(
      tape,
      concatAxis(tape, mixed, { axis: 3, cuts: cuts.map((cut) => cut.queries) }),
      [0, 3, 1, 2, 4],
    );
    const rows = reshapeAs(tape, inOrder, [any, any, heads * headSize], {
      forward: [0, 0, heads * headSize],
      backward: [0, 0, kvHeads, groupSize, headSize],
    });
    return gatherTokens(tape, rows, { index: slotOf, inverse: slots, shape: [any, heads * headSize] });
  };
}

/** Names of what the graph reads about one block of queries [from, to) and the keys [first, to) that it sees. */
export function blockInputs(block: number) {
  return {
    queries: `queries_${block}`,
    queriesEnd: `queries_end_${block}`,
    queryPads: `query_pads_${block}`,
    keys: `keys_${block}`,
    keyPads: `key_pads_${block}`,
    queryPositions: `query_positions_${block}`,
    keyPositions: `key_positions_${block}`,
  };
}

function declareBlock(tape: Tape, config: ModelConfig, kind: LayerKind, block: number) {
  const names = blockInputs(block);
  const from = tape.input(names.queries, 'int64', [1]);
  const to = tape.input(names.queriesEnd, 'int64', [1]);
  const queries = { from, to, pads: tape.input(names.queryPads, 'int64', [10]) };
  const keys = { from: tape.input(names.keys, 'int64', [1]), to, pads: tape.input(names.keyPads, 'int64', [8]) };
  const mask = positionMask(tape, {
    queries: tape.input(names.queryPositions, 'float32', [any, 1]), // repeated for each head of a group
    keys: tape.input(names.keyPositions, 'float32', [1, any]),
    window: kind === 'sliding' ? config.slidingWindow!.tokens : undefined,
  });
  return { queries, keys, mask };
}

/** 0 where a query sees a key, and `maskedScore` elsewhere. */
function positionMask(tape: Tape, place: { queries: Value; keys: Value; window: number | undefined }): Value {
  const { queries, keys, window } = place;
  const shape = [any, any];
  const later = tape.emit('Greater', [keys, queries], shape);
  const masked = tape.scalar(maskedScore);
  const causal = tape.emit('Where', [later, masked, tape.scalar(0)], shape);
  if (window === undefined) return causal;
  const oldest = tape.emit('Sub', [queries, tape.scalar(window - 1)], queries.shape);
  return tape.emit('Where', [tape.emit('Less', [keys, oldest], shape), masked, causal], shape);
}
