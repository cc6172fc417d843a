import { UserError } from '../errors.ts';
import type { ModelServer } from './http.ts';
import { objectOf } from './tokens-from-json.ts';

export interface ModelCard {
  id: string;
  /** Where the server has it from: a folder or a name. */
  root: string;
  contextTokens: number | null;
}

/** The models of `GET /v1/models`, adapters left out. */
export async function modelCards(server: ModelServer, signal?: AbortSignal): Promise<ModelCard[]> {
  const { data } = objectOf(await server.get('/v1/models', signal));
  const cards = (Array.isArray(data) ? data : []).map(objectOf);
  return cards
    .filter((card) => typeof card.id === 'string' && typeof card.parent !== 'string')
    .map((card) => ({
      id: String(card.id),
      root: typeof card.root === 'string' ? card.root : '',
      contextTokens: typeof card.max_model_len === 'number' ? card.max_model_len : null,
    }));
}

/** @throws {UserError} when the configured model is not there, or none is configured and there are several */
export function chooseModel(cards: ModelCard[], { modelId, name }: { modelId?: string; name: string }): ModelCard {
  const card = modelId === undefined ? cards[0] : cards.find(({ id }) => id === modelId);
  if (card !== undefined && (modelId !== undefined || cards.length === 1)) return card;
  throw new UserError({
    code: 'model_not_served',
    message:
      modelId === undefined
        ? `The model service "${name}" serves ${cards.length} models, and the configuration does not say which.`
        : `The model service "${name}" does not serve "${modelId}".`,
    hint: cards.length > 0 ? `It serves: ${cards.map(({ id }) => id).join(', ')}.` : 'It serves none.',
  });
}
