import { z } from 'zod';
import * as filters from '../filters.ts';
import * as things from '../things.ts';
import { done, pageOf, reading, type SomeVerbs, writing } from '../verb.ts';

const { id, number } = things;
const byId = z.strictObject({ id });
const byAttempt = z.strictObject({ attemptId: id });

/** What is on record of an attempt: calls, rewards, spans, notes. */
export const recordVerbs = {
  recordCall: writing('admin', {
    about: 'Keeps a call, once by its id.',
    request: z.strictObject({ call: things.call }),
    response: done,
    ask: (call) => ({ call }),
    run: (store, { call }) => store.recordCall(call),
  }),
  listCalls: reading('grader', {
    about: 'The calls of an attempt, whole.',
    request: byAttempt,
    response: z.array(things.call),
    ask: (attemptId) => ({ attemptId }),
    run: (store, { attemptId }) => store.listCalls(attemptId),
  }),
  getCall: reading('controller', {
    about: 'One call, whole, or null.',
    request: byId,
    response: things.call.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getCall(id),
  }),
  queryCalls: reading('controller', {
    about: 'Calls without texts and tokens, in pages.',
    request: filters.calls,
    response: pageOf(things.callSummary),
    ask: (query) => query,
    run: (store, query) => store.queryCalls(query),
  }),
  addReward: writing('grader', {
    about:
      'A reward of an attempt. Keys below admin write what a grader or the output said, never in the name of the agent.',
    repeatable: false,
    request: things.newReward,
    response: done,
    ask: (reward) => reward,
    run: (store, reward) => store.addReward(reward),
    refusal: ({ source }, held) => {
      if (held === 'admin' || source === 'grader' || (held === 'controller' && source === 'stdout')) return null;
      return `A key of scope "${held}" writes no rewards of source "${source}".`;
    },
  }),
  listRewards: reading('grader', {
    about: 'The rewards of an attempt.',
    request: byAttempt,
    response: z.array(things.reward),
    ask: (attemptId) => ({ attemptId }),
    run: (store, { attemptId }) => store.listRewards(attemptId),
  }),
  queryRewards: reading('controller', {
    about: 'Rewards, in pages.',
    request: filters.rewards,
    response: pageOf(things.reward),
    ask: (query) => query,
    run: (store, query) => store.queryRewards(query),
  }),
  addSpans: writing('admin', {
    about: 'Keeps spans with their rewards, all or none, each once; how many were new.',
    request: z.strictObject({ spans: z.array(things.reportedSpan) }),
    response: number,
    ask: (spans) => ({ spans }),
    run: (store, { spans }) => store.addSpans(spans),
  }),
  listSpans: reading('controller', {
    about: 'The spans of an attempt, by time of start.',
    request: byAttempt,
    response: z.array(things.span),
    ask: (attemptId) => ({ attemptId }),
    run: (store, { attemptId }) => store.listSpans(attemptId),
  }),
  querySpans: reading('controller', {
    about: 'Spans, in pages.',
    request: filters.spans,
    response: pageOf(things.span),
    ask: (query) => query,
    run: (store, query) => store.querySpans(query),
  }),
  annotate: writing('admin', {
    about: 'Adds a note to a rollout, attempt or call.',
    repeatable: false,
    request: things.newAnnotation,
    response: things.annotation,
    ask: ({ target, key, value, author }) => ({ target, key, value, author }),
    run: (store, annotation) => store.annotate(annotation),
  }),
  queryAnnotations: reading('controller', {
    about: 'Notes, in pages.',
    request: filters.annotations,
    response: pageOf(things.annotation),
    ask: (query) => query,
    run: (store, query) => store.queryAnnotations(query),
  }),
} satisfies SomeVerbs;
