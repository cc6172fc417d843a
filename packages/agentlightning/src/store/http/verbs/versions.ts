import { z } from 'zod';
import * as filters from '../filters.ts';
import * as things from '../things.ts';
import { done, pageOf, reading, type SomeVerbs, writing } from '../verb.ts';

const { id } = things;

/** What attempts run with, by version: weights, their checkpoints, resources. */
export const versionVerbs = {
  addPolicyVersion: writing('admin', {
    about: 'Announces a version of the weights.',
    request: things.newPolicyVersion,
    response: done,
    ask: ({ policy, version, runId, step, path }) => ({ policy, version, runId, step, path }),
    run: (store, version) => store.addPolicyVersion(version),
  }),
  latestPolicyVersion: reading('controller', {
    about: 'The version announced last, or null.',
    request: z.strictObject({ policy: z.string() }),
    response: things.policyVersion.nullable(),
    ask: (policy) => ({ policy }),
    run: (store, { policy }) => store.latestPolicyVersion(policy),
  }),
  queryPolicyVersions: reading('controller', {
    about: 'Versions of weights, as they were announced, in pages.',
    request: filters.policyVersions,
    response: pageOf(things.policyVersion),
    ask: (query) => query,
    run: (store, query) => store.queryPolicyVersions(query),
  }),
  saveCheckpoint: writing('admin', {
    about: 'Keeps a checkpoint, with the path of its policy version.',
    request: things.newCheckpoint,
    response: done,
    ask: ({ runId, step, path, policyVersion, state, policy }) => ({ runId, step, path, policyVersion, state, policy }),
    run: (store, checkpoint) => store.saveCheckpoint(checkpoint),
  }),
  latestCheckpoint: reading('controller', {
    about: 'The checkpoint of the last step of a run, or null.',
    request: z.strictObject({ runId: id }),
    response: things.checkpoint.nullable(),
    ask: (runId) => ({ runId }),
    run: (store, { runId }) => store.latestCheckpoint(runId),
  }),
  queryCheckpoints: reading('controller', {
    about: 'Checkpoints of a run, by step, in pages.',
    request: filters.checkpoints,
    response: pageOf(things.checkpoint),
    ask: (query) => query,
    run: (store, query) => store.queryCheckpoints(query),
  }),
  addResource: writing('admin', {
    about: 'A new version of a resource, or the one that has this content already.',
    request: things.newResource,
    response: things.resource,
    ask: ({ name, kind, content, draft }) => ({ name, kind, content, ...(draft === undefined ? {} : { draft }) }),
    run: (store, resource) => store.addResource(resource),
  }),
  getResource: reading('controller', {
    about: 'One version of a resource, or null.',
    request: z.strictObject({ name: z.string(), version: things.whole }),
    response: things.resource.nullable(),
    ask: (name, version) => ({ name, version }),
    run: (store, { name, version }) => store.getResource(name, version),
  }),
  latestResources: reading('controller', {
    about: 'The latest version of every resource, or of these.',
    request: z.strictObject({ names: z.exactOptional(z.array(z.string())) }),
    response: z.array(things.resource),
    ask: (names) => (names === undefined ? {} : { names }),
    run: (store, { names }) => store.latestResources(names),
  }),
  queryResources: reading('controller', {
    about: 'Versions of resources, in pages.',
    request: filters.resources,
    response: pageOf(things.resource),
    ask: (query) => query,
    run: (store, query) => store.queryResources(query),
  }),
} satisfies SomeVerbs;
