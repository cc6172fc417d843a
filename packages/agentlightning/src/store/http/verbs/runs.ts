import { z } from 'zod';
import * as filters from '../filters.ts';
import * as things from '../things.ts';
import { done, nothing, pageOf, reading, type SomeVerbs, writing } from '../verb.ts';

const { id, number } = things;
const byId = z.strictObject({ id });

/** Runs and their tasks, and what there is of them all. */
export const runVerbs = {
  createRun: writing('admin', {
    about: 'Begins a run.',
    repeatable: false,
    request: z.strictObject({ id, config: things.jsonObject }),
    response: things.run,
    ask: ({ id, config }) => ({ id, config }),
    run: (store, run) => store.createRun(run),
  }),
  getRun: reading('controller', {
    about: 'One run, or null.',
    request: byId,
    response: things.run.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getRun(id),
  }),
  listRuns: reading('controller', {
    about: 'All runs, newest first.',
    request: nothing,
    response: z.array(things.run),
    ask: () => ({}),
    run: (store) => store.listRuns(),
  }),
  queryRuns: reading('controller', {
    about: 'Runs, in pages.',
    request: filters.runs,
    response: pageOf(things.run),
    ask: (query) => query,
    run: (store, query) => store.queryRuns(query),
  }),
  finishRun: writing('admin', {
    about: 'Ends a run.',
    request: z.strictObject({ id, state: z.enum(['finished', 'failed']) }),
    response: done,
    ask: (id, state) => ({ id, state }),
    run: (store, { id, state }) => store.finishRun(id, state),
  }),
  putTasks: writing('admin', {
    about: 'Adds tasks, or replaces them by id.',
    request: z.strictObject({ tasks: z.array(things.task) }),
    response: done,
    ask: (tasks) => ({ tasks }),
    run: (store, { tasks }) => store.putTasks(tasks),
  }),
  getTask: reading('grader', {
    about: "One task with the grader's part, or null.",
    request: byId,
    response: things.task.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getTask(id),
  }),
  queryTasks: reading('controller', {
    about: "Tasks with the grader's part, by id, in pages.",
    request: filters.tasks,
    response: pageOf(things.task),
    ask: (query) => query,
    run: (store, query) => store.queryTasks(query),
  }),
  prune: writing('admin', {
    about: 'Removes calls and spans, or all, of runs that ended long ago; how much of what.',
    request: things.pruneRules,
    response: things.pruneReport,
    ask: (rules) => rules,
    run: (store, rules) => store.prune(rules),
  }),
  lastChange: reading('controller', {
    about: 'Number of the newest change; 0 when there is none.',
    request: nothing,
    response: number,
    ask: () => ({}),
    run: (store) => store.lastChange(),
  }),
} satisfies SomeVerbs;
