import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextBeam } from './beam.ts';
import { bestOf, createCandidate, isPerfect, type Member, meanScore } from './candidate.ts';
import { minibatchOf, tellingTasks } from './gepa.ts';
import { ancestorsOf, mergeableTriples, mergeOf } from './merge.ts';
import { frontWeights, pickWeighted, taskFronts } from './pareto.ts';

const names = ['planner', 'solver', 'judge'];
const tasks = ['t0', 't1', 't2', 't3'];
const score = fc.option(fc.constantFrom(0, 0.25, 0.5, 1), { freq: 5 });

/** A pool as a search could have left it: each member changes some prompts of an earlier one, or merges two. */
const pool: fc.Arbitrary<Member[]> = fc
  .array(
    fc.record({
      parent: fc.nat(),
      other: fc.option(fc.nat(), { freq: 3 }),
      prompt: fc.constantFrom(...names),
      version: fc.nat(3),
      scores: fc.tuple(score, score, score, score),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((rows) => {
    const members: Member[] = [];
    for (const { parent, other, prompt, version, scores } of rows) {
      const from = members[parent % Math.max(1, members.length)];
      const also = other === null ? undefined : members[other % Math.max(1, members.length)];
      const texts = from?.candidate.texts ?? Object.fromEntries(names.map((name) => [name, 'seed']));
      const parents = [from, also].filter((each) => each !== undefined).map(({ candidate }) => candidate.id);
      const candidate = createCandidate({
        texts: from === undefined ? texts : { ...texts, [prompt]: `v${version}` },
        parents: [...new Set(parents)],
        origin: { kind: 'edit', prompt },
      });
      if (members.some(({ candidate: { id } }) => id === candidate.id)) continue;
      const byTask = Object.fromEntries(tasks.map((task, index) => [task, scores[index]!]));
      members.push({ candidate, scores: byTask, turn: 0 });
    }
    return members;
  });

describe('a beam', () => {
  it('keeps the best, in order, and of equals the earlier', () => {
    fc.assert(
      fc.property(pool, fc.integer({ min: 1, max: 6 }), (members, width) => {
        const beam = nextBeam(members, width);
        expect(beam).toHaveLength(Math.min(width, members.length));
        const rank = (member: Member) => meanScore(member.scores) ?? -1;
        const left = members.filter((member) => !beam.includes(member));
        for (const [index, member] of beam.entries()) {
          const next = beam[index + 1];
          if (next === undefined) continue;
          expect(rank(member)).toBeGreaterThanOrEqual(rank(next));
          if (rank(member) === rank(next)) expect(members.indexOf(member)).toBeLessThan(members.indexOf(next));
        }
        for (const member of left) expect(rank(member)).toBeLessThanOrEqual(rank(beam.at(-1)!));
        expect(beam[0]).toBe(bestOf(members));
      }),
    );
  });
});

describe('a Pareto front over tasks', () => {
  it('covers the best score of every task, with members that each add something', () => {
    fc.assert(
      fc.property(pool, (members) => {
        const weights = frontWeights(members);
        const kept = members.filter(({ candidate }) => weights.has(candidate.id));
        const fronts = taskFronts(members);
        for (const task of tasks) {
          const graded = members.map(({ scores }) => scores[task] ?? null).filter((each) => each !== null);
          if (graded.length === 0) continue;
          expect(Math.max(...kept.map(({ scores }) => scores[task] ?? -1))).toBe(Math.max(...graded));
        }
        for (const { candidate } of kept) {
          const own = [...fronts.values()].filter((ids) => ids.has(candidate.id));
          expect(weights.get(candidate.id)).toBe(own.length);
          const alone = own.some((ids) => [...ids].every((id) => id === candidate.id || !weights.has(id)));
          expect(alone || kept.length === 1).toBe(true);
        }
      }),
    );
  });

  it('keeps who is best at one thing although its mean is the worst', () => {
    const member = (version: string, scores: number[]): Member => ({
      candidate: createCandidate({ texts: { a: version }, parents: [], origin: { kind: 'seed' } }),
      scores: Object.fromEntries(scores.map((each, index) => [`t${index}`, each])),
      turn: 0,
    });
    const [good, special, weak] = [member('good', [1, 1, 0]), member('special', [0, 0, 1]), member('weak', [1, 0, 0])];
    const weights = frontWeights([good!, special!, weak!]);
    expect([...weights]).toEqual([
      [good!.candidate.id, 2],
      [special!.candidate.id, 1],
    ]);
  });

  it('is drawn from in proportion to the weights', () => {
    const weights = new Map([
      ['a', 1],
      ['b', 0],
      ['c', 3],
    ]);
    const counts: Record<string, number> = {};
    for (let index = 0; index < 400; index += 1) {
      const key = pickWeighted(weights, index / 400)!;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    expect(counts).toEqual({ a: 100, c: 300 });
    expect(pickWeighted(new Map(), 0.5)).toBeNull();
  });
});

describe('a merge', () => {
  it('has of each prompt the text of one of the two, and every change that one of them made alone', () => {
    fc.assert(
      fc.property(pool, (members) => {
        const all = new Set(members.map(({ candidate }) => candidate.id));
        for (const triple of mergeableTriples(members, all)) {
          const { first, second, ancestor } = triple;
          const byId = new Map(members.map((member) => [member.candidate.id, member]));
          for (const one of [first, second]) {
            expect(ancestorsOf(one.candidate, byId).has(ancestor.candidate.id)).toBe(true);
            expect(meanScore(ancestor.scores) ?? -1).toBeLessThanOrEqual(meanScore(one.scores) ?? -1);
          }
          const merged = mergeOf(triple);
          const [a, b] = [first.candidate, second.candidate];
          expect([a.id, b.id]).not.toContain(merged.id);
          expect(merged.parents).toEqual([a.id, b.id]);
          for (const name of names) {
            const [before, ofA, ofB] = [ancestor.candidate.texts[name], a.texts[name], b.texts[name]];
            expect([ofA, ofB]).toContain(merged.texts[name]);
            if (ofA === before) expect(merged.texts[name]).toBe(ofB);
            if (ofB === before) expect(merged.texts[name]).toBe(ofA);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is not of a candidate and its own descendant, nor of two that changed the same prompt', () => {
    const make = (texts: Record<string, string>, parents: Member[], mean: number): Member => ({
      candidate: createCandidate({
        texts: { planner: 'seed', solver: 'seed', ...texts },
        parents: parents.map(({ candidate }) => candidate.id),
        origin: { kind: 'seed' },
      }),
      scores: { t: mean },
      turn: 0,
    });
    const seed = make({}, [], 0);
    const planner = make({ planner: 'p' }, [seed], 0.5);
    const both = make({ planner: 'p', solver: 's' }, [planner], 0.75);
    const other = make({ planner: 'q' }, [seed], 0.5);
    const solver = make({ solver: 'z' }, [seed], 0.5);
    const members = [seed, planner, both, other, solver];
    const triples = mergeableTriples(members, new Set(members.map(({ candidate }) => candidate.id)));
    expect(triples.map(({ first, second }) => [first, second])).toEqual([
      [planner, solver],
      [other, solver],
    ]);
  });
});

describe('tasks', () => {
  it('for feedback come from outside of the front, all of them before any comes again', () => {
    const all = Array.from({ length: 11 }, (_, index) => `t${index}`);
    const pareto = all.slice(0, 4);
    const batches = [0, 1].map((at) => minibatchOf({ tasks: all, pareto, size: 3, at, seed: 1 }));
    expect(new Set(batches.flat()).size).toBe(6);
    expect(batches.flat().some((task) => pareto.includes(task))).toBe(false);
    expect(minibatchOf({ tasks: pareto, pareto, size: 3, at: 5, seed: 1 })).toHaveLength(3);
    expect(minibatchOf({ tasks: ['one'], pareto: ['one'], size: 3, at: 5, seed: 1 })).toEqual(['one']);
  });

  it('that tell a merge from its parents are of all kinds, each once', () => {
    const scores = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), score);
    fc.assert(
      fc.property(scores, scores, fc.integer({ min: 1, max: 8 }), (first, second, count) => {
        const told = tellingTasks(first, second, count, (task) => task.charCodeAt(0) / 200);
        const common = Object.keys(first).filter((task) => first[task] != null && second[task] != null);
        expect(told).toHaveLength(Math.min(count, common.length));
        expect(new Set(told).size).toBe(told.length);
        const better = common.some((task) => first[task]! > second[task]!);
        if (better) expect(told.some((task) => first[task]! > second[task]!)).toBe(true);
      }),
    );
  });
});

it('a candidate without a grade, or below the threshold, is not perfect', () => {
  expect(isPerfect({ scores: { a: 1, b: 1 } }, { successThreshold: 1 })).toBe(true);
  expect(isPerfect({ scores: { a: 1, b: null } }, { successThreshold: 1 })).toBe(false);
  expect(isPerfect({ scores: { a: 1, b: 0.9 } }, { successThreshold: 1 })).toBe(false);
});
