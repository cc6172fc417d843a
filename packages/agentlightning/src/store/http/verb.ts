import { z } from 'zod';
import type { Store } from '../store.ts';

/** Whose key opens a verb; a wider scope opens it too. The same words as the gateway's. */
export type StoreScope = 'admin' | 'controller' | 'grader';

/** Verbs that are one request and one answer. */
export type PlainVerb = Exclude<keyof Store, 'close' | 'changes' | 'waitForRollouts'>;

export interface StoreVerb<Name extends PlainVerb, Request = unknown> {
  /** GET for what only reads. */
  method: 'GET' | 'POST';
  /** The narrowest scope that may. */
  scope: StoreScope;
  about: string;
  /** False: sending it twice may do it twice, so a lost answer is not asked for again. */
  repeatable: boolean;
  request: z.ZodType<Request>;
  response: z.ZodType<Awaited<ReturnType<Store[Name]>>>;
  /** The request that the call of the interface becomes. */
  ask(...args: Parameters<Store[Name]>): Request;
  /** And back. `signal`: the one who asked has gone. */
  run(store: Store, request: Request, signal: AbortSignal): ReturnType<Store[Name]>;
  /** A narrower rule than the scope's: why a key of this scope may not send this request, or null. */
  refusal?(request: Request, held: StoreScope): string | null;
}

/** A part of the table. */
export type SomeVerbs = { readonly [Name in PlainVerb]?: StoreVerb<Name> };

type Definition<Name extends PlainVerb, Request> = Omit<StoreVerb<Name, Request>, 'method' | 'scope' | 'repeatable'>;

export function reading<Name extends PlainVerb, Request>(
  scope: StoreScope,
  definition: Definition<Name, Request>,
): StoreVerb<Name, Request> {
  return { method: 'GET', scope, repeatable: true, ...definition };
}

export function writing<Name extends PlainVerb, Request>(
  scope: StoreScope,
  definition: Definition<Name, Request> & { repeatable?: boolean },
): StoreVerb<Name, Request> {
  return { method: 'POST', scope, repeatable: true, ...definition };
}

/** Nothing to ask with. */
export const nothing = z.strictObject({});
/** Nothing to answer. */
export const done = z.codec(z.null(), z.void(), { decode: () => undefined, encode: () => null });
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });
