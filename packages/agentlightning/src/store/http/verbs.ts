import type { PlainVerb, StoreVerb } from './verb.ts';
import { recordVerbs } from './verbs/records.ts';
import { runVerbs } from './verbs/runs.ts';
import { versionVerbs } from './verbs/versions.ts';
import { workVerbs } from './verbs/work.ts';

export { type StoreStream, storeStreams } from './verbs/streams.ts';

/**
 * The store over HTTP: one entry a verb of the interface, under its own name. Routes, client and OpenAPI document derive
 * from this table and from `storeStreams`.
 */
export const storeVerbs: { readonly [Name in PlainVerb]: StoreVerb<Name> } = {
  ...runVerbs,
  ...workVerbs,
  ...recordVerbs,
  ...versionVerbs,
};

/** Every verb has the path of its name. */
export const storePath = (verb: string): string => `/agl/v1/store/${verb}`;
