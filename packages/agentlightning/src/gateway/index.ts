/**
 * The one door to the models: translates dialects, knows whose call it is, records every call before it is acknowledged.
 * It knows stores and upstreams by their interfaces, and nothing of HTTP servers, engines or what is learnt from the calls.
 */
export { type AccessRequest, createAccess, isLoopback } from './access.ts';
export { answerTo } from './answer-to.ts';
export type { BudgetLimits } from './budget.ts';
export { chat } from './dialects/chat.ts';
export type { Dialect } from './dialects/dialect.ts';
export { dialects } from './dialects.ts';
export { assertDepth } from './fields.ts';
export { type AnswerSink, Gateway } from './gateway.ts';
export { covers, createKeyRing, type KeyRing, makeKey, type Scope, scopes } from './keys.ts';
export { type ModelForm, modelForms } from './model-lists.ts';
export type { CallObservation } from './observation.ts';
export { type Problem, problemOf } from './problem.ts';
export { Prompts } from './prompts.ts';
export { RequestError } from './request-error.ts';
export { addOwnReward } from './rewards.ts';
export { type Route, Routes } from './routes.ts';
export type { Session, SessionSampling } from './session.ts';
export { isAttemptToken, Sessions } from './sessions.ts';
