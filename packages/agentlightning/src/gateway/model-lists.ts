import type { JsonObject } from '../store/types.ts';

/** A model that a route answers for. */
export interface ListedModel {
  alias: string;
  ownedBy: string;
}

/** How a protocol lists the models that may be called. */
export interface ModelForm {
  list(models: ListedModel[]): JsonObject;
  one(model: ListedModel): JsonObject;
}

const openAi: ModelForm = {
  list: (models) => ({ object: 'list', data: models.map(openAi.one) }),
  one: ({ alias, ownedBy }) => ({ id: alias, object: 'model', created: 0, owned_by: ownedBy }),
};

/** https://docs.anthropic.com/en/api/models-list: an epoch stands for a date that nobody knows. */
const anthropic: ModelForm = {
  list: (models) => ({
    data: models.map(anthropic.one),
    has_more: false,
    first_id: models[0]?.alias ?? null,
    last_id: models.at(-1)?.alias ?? null,
  }),
  one: ({ alias }) => ({ type: 'model', id: alias, display_name: alias, created_at: '1970-01-01T00:00:00Z' }),
};

/** https://ai.google.dev/api/models */
const gemini: ModelForm = {
  list: (models) => ({ models: models.map(gemini.one) }),
  one: ({ alias }) => ({
    name: `models/${alias}`,
    displayName: alias,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }),
};

export const modelForms = { openAi, anthropic, gemini };
