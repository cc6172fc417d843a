/**
 * Learning by imitation and preference: which recorded calls are worth it, as rows of tokens with exact masks or as
 * messages. Pure functions; it must not know files, formats on disk or where the store is.
 */

export type { ModelText } from '../model-text.ts';
export { buildConversations, type TrainedConversation } from './conversations.ts';
export { buildExamples } from './examples.ts';
export { type CallVerdict, countExcluded } from './exclusions.ts';
export { chatRow, openAiPreferenceRow, openAiRow, preferenceRow, tokenRow } from './export-rows.ts';
export { type Pair, pairRows, pairVerdicts, promptOfConversation } from './preferences.ts';
export { type Selection, type SelectionOptions, selectAnswers } from './selection.ts';
