import type { Json, JsonObject } from '../store/types.ts';
import type { Turn } from '../upstreams/index.ts';
import type { Session, SessionSampling } from './session.ts';

/** Sampling from the policy itself: what a training step assumes of its rows. */
const onPolicy: SessionSampling = { temperature: 1, topP: 1, topK: 0 };

/** Request fields that bend the distribution away from the policy's; a training call does without them. */
const bending = [
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'repeat_penalty',
  'length_penalty',
  'min_p',
  'typical_p',
  'logit_bias',
  'min_tokens',
  'min_new_tokens',
  'ignore_eos',
  'bad_words',
  'allowed_token_ids',
];

export interface EnforcedSampling {
  turn: Turn;
  /** Field → value that the client had sent. */
  overridden: JsonObject;
}

/**
 * Applies a session's sampling to a turn that a policy answers. Training: temperature, top-p, top-k and seed are the
 * session's. Validation: what the session names is forced, the rest is the client's. Serving, and frozen models anywhere:
 * all is the client's.
 *
 * @param options.seed for a client that sent none, or may not choose
 */
export function enforceSampling(
  turn: Turn,
  options: { mode: Session['mode']; sampling: SessionSampling | null; policy: string | null; seed: number },
): EnforcedSampling {
  const overridden: JsonObject = {};
  const sampling = { ...turn.sampling };
  const { seed } = options;
  const training = options.mode === 'train' && options.policy !== null;
  const forced = options.policy === null ? null : (options.sampling ?? (training ? onPolicy : null));
  if (forced !== null) {
    for (const name of ['temperature', 'topP', 'topK'] as const) {
      note(overridden, name, turn.sent[name], forced[name]);
      sampling[name] = forced[name];
    }
    if (forced.maxTokens !== undefined && forced.maxTokens < sampling.maxTokens) {
      note(overridden, 'maxTokens', turn.sent.maxTokens, forced.maxTokens);
      sampling.maxTokens = forced.maxTokens;
    }
  }
  // A seed in an agent's code would make all rollouts of a task alike, and leave nothing to learn from.
  if (training || sampling.seed === null) {
    note(overridden, 'seed', turn.sent.seed ?? undefined, seed);
    sampling.seed = seed;
  }
  const extra = training ? withoutBending(turn.extra, overridden) : turn.extra;
  return { turn: { ...turn, sampling, extra }, overridden };
}

function note(overridden: JsonObject, name: string, sent: Json | undefined, inForce: Json): void {
  if (sent !== undefined && sent !== inForce) overridden[name] = sent;
}

function withoutBending(extra: Turn['extra'], overridden: JsonObject): Turn['extra'] {
  if (!bending.some((name) => name in extra)) return extra;
  const kept: Turn['extra'] = {};
  for (const [name, value] of Object.entries(extra)) {
    if (!bending.includes(name)) kept[name] = value;
    else if (value !== null) overridden[name] = value;
  }
  return kept;
}
