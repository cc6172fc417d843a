import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openJournal } from './journal.ts';
import { Ledger } from './ledger.ts';

const use = (calls: number, tokens = 0, money = 0) => ({ calls, tokens, money });

describe('a budget', () => {
  it('lets the first piece of work go alone, and then as many as it can pay at the price of the greediest', async () => {
    const ledger = new Ledger({ calls: 10 });
    expect(await ledger.admit('rollout')).toBe(true);
    const waiting = ledger.admit('rollout');
    ledger.settle('rollout', 'a', use(3));
    expect(await waiting).toBe(true);
    expect(await ledger.admit('rollout')).toBe(true);
    // 3 spent, 6 in flight, 1 left.
    expect(await ledger.admit('rollout')).toBe(false);
    ledger.settle('rollout', 'b', use(1));
    expect(await ledger.admit('rollout')).toBe(true);
  });

  it('counts the same work once, and keeps the reserve for what it is meant for', async () => {
    const ledger = new Ledger({ tokens: 100 });
    ledger.reserved = 4;
    ledger.count('rollout', 'a', use(1, 20));
    ledger.count('rollout', 'a', use(1, 20));
    expect(ledger.spent).toEqual(use(1, 20));
    expect(await ledger.admit('rollout')).toBe(false);
    expect(await ledger.admit('rollout', { fromReserve: true })).toBe(true);
  });

  it('is exceeded by no more than what the work in flight uses beyond the greediest before it', async () => {
    const usage = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(usage, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 1, max: 6 }),
        async (uses, limit, lanes) => {
          const ledger = new Ledger({ calls: limit });
          const open = [...uses.entries()];
          let greediest = 0;
          let worst = 0;
          const lane = async () => {
            for (let next = open.shift(); next !== undefined; next = open.shift()) {
              if (!(await ledger.admit('rollout'))) return;
              await Promise.resolve();
              const [id, calls] = next;
              worst = Math.max(worst, calls - greediest);
              ledger.settle('rollout', `${id}`, use(calls));
              greediest = Math.max(greediest, calls);
            }
          };
          await Promise.all(Array.from({ length: lanes }, lane));
          expect(ledger.spent.calls).toBeLessThanOrEqual(limit + lanes * worst);
          if (uses.every((each) => each === uses[0]))
            expect(ledger.spent.calls).toBeLessThanOrEqual(Math.max(limit, uses[0]!));
        },
      ),
    );
  });

  it('takes back what came to nothing', async () => {
    const ledger = new Ledger({ calls: 2 });
    await ledger.admit('question');
    ledger.settle('question', 'a', null);
    expect(ledger.spent).toEqual(use(0));
    expect(await ledger.admit('question')).toBe(true);
  });
});

describe('the journal', () => {
  const entry = (id: string) => ({ work: 'question' as const, id, usage: use(1, 2), answer: `né\n${id}` });

  it('tells a later process what was paid, but for a line that a kill has cut off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agl-journal-'));
    const first = await openJournal(folder);
    expect(first.entries).toEqual([]);
    await Promise.all([first.append(entry('a')), first.append(entry('b'))]);
    const file = join(folder, 'search.jsonl');
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, whole.slice(0, -5));
    const second = await openJournal(folder);
    expect(second.entries).toEqual([entry('a')]);
    await second.append(entry('c'));
    expect((await openJournal(folder)).entries).toEqual([entry('a'), entry('c')]);
  });
});
