import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../random.ts';
import { apoRound, beginApo, type SearchInput } from './apo.ts';
import { bestOf, createCandidate } from './candidate.ts';
import { confirm, verdictOf } from './confirm.ts';
import { beginGepa, gepaIteration } from './gepa.ts';
import { apoOptions, gepaOptions } from './options.ts';
import type { Question, SearchPorts, Trial } from './ports.ts';
import type { RefusalReason } from './proposal.ts';

/** Each task needs one thing of each prompt; the reward is the share of prompts that say what it needs. */
const needs = { planner: ['units', 'order', 'limits'], solver: ['digits', 'sign', 'check'] };
const names = Object.keys(needs) as (keyof typeof needs)[];
const tasks = Array.from({ length: 27 }, (_, index) => `t${index}`);
const needOf = (name: keyof typeof needs, task: string): string =>
  needs[name][Math.floor(Number(task.slice(1)) / (name === 'planner' ? 1 : 3)) % 3]!;
const start = createCandidate({
  texts: { planner: 'Plan: {{q}}', solver: 'Solve: {{q}}' },
  parents: [],
  origin: { kind: 'seed' },
});

interface World extends SearchPorts {
  /** Pairs that were run. */
  ran: Set<string>;
  repeated: number;
  refusals: RefusalReason[];
  questions: number;
}

/** @param options.most pairs that the budget allows */
function world(
  seed: number,
  {
    most = Number.POSITIVE_INFINITY,
    answer = scripted,
  }: { most?: number; answer?: (question: Question, draw: number) => string } = {},
): World {
  const ports: World = {
    ran: new Set(),
    repeated: 0,
    refusals: [],
    questions: 0,
    async evaluate(trials) {
      return trials.map(({ candidate, taskId }: Trial) => {
        const pair = `${candidate.id} ${taskId}`;
        if (!ports.ran.has(pair) && ports.ran.size >= most) return null;
        ports.ran.add(pair);
        const told = names.filter((name) => candidate.texts[name]!.includes(needOf(name, taskId)));
        const lacks = names
          .filter((name) => !told.includes(name))
          .map((name) => `${name} lacks ${needOf(name, taskId)}`);
        return { taskId, reward: told.length / names.length, report: lacks.join('\n') };
      });
    },
    async ask(question) {
      ports.questions += 1;
      return answer(question, seedFor(seed, question.key) / 2 ** 31);
    },
    refused: (reason) => void ports.refusals.push(reason),
    born: async () => {},
    draw: (...parts) => seedFor(seed, ...parts) / 2 ** 31,
  };
  return ports;
}

/** Writes one thing into the prompt that the examples show to be missing; one answer of four does not help. */
function scripted({ user }: Question, draw: number): string {
  const name = /the prompt "(\w+)"/.exec(user)![1]!;
  const current = user.split('<prompt>')[1]!.split('</prompt>')[0]!.trim();
  const lacking = [...user.matchAll(/(\w+) lacks (\w+)/g)].filter(
    ([, whose, what]) => whose === name && !current.includes(what!),
  );
  if (user.includes('list of causes')) return lacking.map(([whole]) => whole).join('\n') || 'unclear';
  const added = draw < 0.75 && lacking.length > 0 ? lacking[Math.floor(draw * 100) % lacking.length]![2] : `hm ${draw}`;
  return `<prompt>${current}\n${added}</prompt>`;
}

const rules = names.map((name) => ({ name, placeholders: ['q'], maxCharacters: 500 }));
const input = <Options>(ports: SearchPorts, options: Options, seed = 1): SearchInput<Options> => ({
  ...{ ports, options, tasks, seed },
  prompts: rules,
});

async function runApo(ports: World, seed = 1) {
  const given = input(ports, apoOptions.parse({}), seed);
  let state = (await beginApo(given, start))!;
  for (let round = 1; round <= 12; round += 1) {
    const { state: next, done } = await apoRound(given, state, round);
    state = next;
    if (done !== null) return { best: state.beam[0]!, done };
  }
  return { best: state.beam[0]!, done: null };
}

async function runGepa(ports: World, seed = 1, steps = 80) {
  const given = input(ports, gepaOptions.parse({}), seed);
  let state = (await beginGepa(given, start))!;
  for (let iteration = 1; iteration <= steps; iteration += 1) {
    const { state: next, done } = await gepaIteration(given, state, iteration);
    state = next;
    if (done !== null) return { best: bestOf(state.pool), done, state };
  }
  return { best: bestOf(state.pool), done: null, state };
}

const everything = (texts: Readonly<Record<string, string>>) =>
  names.every((name) => needs[name].every((need) => texts[name]!.includes(need)));

describe('on a system of two prompts with six hidden requirements', () => {
  it.each([1, 2, 3, 4, 5])('both find all of them, GEPA in fewer rollouts (seed %d)', async (seed) => {
    const [apo, gepa] = [world(seed), world(seed)];
    const found = [await runApo(apo, seed), await runGepa(gepa, seed)];
    for (const { best, done } of found) {
      expect(done).toBe('nothing_left_to_improve');
      expect(everything(best.candidate.texts)).toBe(true);
    }
    expect(gepa.ran.size).toBeLessThan(apo.ran.size);
  });

  it('the same seed searches the same way, whatever the order of answers', async () => {
    const runs = await Promise.all(
      [world(7), world(7)].map(async (ports) => ({ ...(await runGepa(ports, 7)), ran: ports.ran })),
    );
    expect(runs[0]!.best).toEqual(runs[1]!.best);
    expect(runs[0]!.ran).toEqual(runs[1]!.ran);
  });

  it('ends where the budget does, with what it has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 16, max: 200 }), async (most) => {
        for (const run of [runApo, runGepa]) {
          const ports = world(3, { most });
          const { best, done } = await run(ports, 3);
          expect(ports.ran.size).toBeLessThanOrEqual(most);
          expect(['budget_spent', 'nothing_left_to_improve']).toContain(done);
          expect(Object.values(best.scores)).toHaveLength(16);
        }
      }),
      { numRuns: 20 },
    );
  });
});

it('GEPA tries a text that is no better on its minibatch on nothing else', async () => {
  let number = 0;
  const answer = ({ user }: Question) => {
    number += 1;
    return `<prompt>${user.split('<prompt>')[1]!.split('</prompt>')[0]!.trim()} (${number})</prompt>`;
  };
  const ports = world(1, { answer });
  const { state } = await runGepa(ports, 1, 4);
  expect(state.pool).toHaveLength(1);
  const ofOthers = [...ports.ran].filter((pair) => !pair.startsWith(start.id));
  expect(ofOthers).toHaveLength(4 * gepaOptions.parse({}).minibatch);
});

describe('a critique model that is of no use', () => {
  it.each<[RefusalReason, string]>([
    ['critique_empty', ''],
    ['critique_unreadable', 'asdf qwer'],
    [
      'critique_other_language',
      '<prompt>请仔细地解决下面的这个问题，一步一步来，最后给出答案，不要遗漏任何单位：{{q}}</prompt>',
    ],
    ['placeholder_lost', '<prompt>Solve it.</prompt>'],
    ['prompt_too_long', `<prompt>{{q}} ${'long '.repeat(200)}</prompt>`],
  ])('%s: every answer is counted, and the prompts stay', async (reason, text) => {
    const long = (word: string) =>
      `${word}: {{q}}. Give the answer with all of its digits and say nothing else about it.`;
    const from = createCandidate({
      texts: { planner: long('Plan'), solver: long('Solve') },
      parents: [],
      origin: { kind: 'seed' },
    });
    const ports = world(1, { answer: ({ user }) => (user.includes('list of causes') ? 'causes' : text) });
    const apo = input(ports, apoOptions.parse({}));
    const { state } = await apoRound(apo, (await beginApo(apo, from))!, 1);
    expect(state.beam.map(({ candidate }) => candidate)).toEqual([from]);
    expect(ports.refusals).toEqual(Array(4).fill(reason));
    const gepa = input(ports, gepaOptions.parse({}));
    const { state: after } = await gepaIteration(gepa, (await beginGepa(gepa, from))!, 1);
    expect(after.pool).toHaveLength(1);
    expect(ports.refusals).toEqual(Array(5).fill(reason));
  });
});

describe('confirmation', () => {
  const better = createCandidate({
    texts: { planner: 'better' },
    parents: [start.id],
    origin: { kind: 'edit', prompt: 'planner' },
  });
  const heldOut = tasks.slice(0, 9);
  const confirming = (after: (index: number) => number | null, count = 9) => {
    const evaluate: SearchPorts['evaluate'] = async (trials) =>
      trials.map(({ candidate, taskId }, index) => ({
        taskId,
        report: '',
        reward: candidate === better ? after(index) : 0.5,
      }));
    return confirm({ evaluate }, { start, best: better, heldOut: heldOut.slice(0, count) });
  };

  it('names a winner when the interval of the gain is above 0', async () => {
    expect(await confirming((index) => 0.8 + (index % 2) / 10)).toMatchObject({ verdict: 'improved' });
  });

  it.each([
    ['not_confirmed', 'the interval holds 0', (index: number) => (index % 3 === 0 ? 1 : 0.25), 9],
    ['not_confirmed', 'nothing changes', () => 0.5, 9],
    ['not_confirmed', 'it got worse', () => 0.1, 9],
    ['too_few_tasks', 'five tasks agree', () => 1, 5],
    ['too_few_tasks', 'most were not graded', (index: number) => (index < 5 ? 1 : null), 9],
  ] as const)('%s when %s', async (verdict, _, after, count) => {
    expect(await confirming(after, count)).toMatchObject({ verdict });
  });

  it('never names a winner whose interval includes the start', () => {
    const finite = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(finite, finite, finite, fc.nat(20), (low, mean, high, count) => {
        if (verdictOf({ low, mean, high, count }) === 'improved') expect(low).toBeGreaterThan(0);
      }),
    );
  });
});
