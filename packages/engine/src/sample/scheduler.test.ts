import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RowCopy, Scheduler, type Sequence } from './scheduler.ts';

const limits = { slots: 4, fits: () => true, known: () => 0, prefillTokens: 32, prefillWidth: 8, prefillBurst: 64 };

interface Entry extends Sequence {
  name: number;
  /** Tokens still to sample. */
  rest: number;
}

function entry(name: number, promptIds: number[], rest = 3): Entry {
  return { name, promptIds: Int32Array.from(promptIds), mostTokens: promptIds.length + rest, rest };
}

/** A model of the cache: per row the tokens in it. Runs the scheduler's steps and checks that rows hold what they should. */
class Machine {
  readonly scheduler = new Scheduler<Entry>(limits);
  readonly cache: number[][] = [];
  readonly finished: number[] = [];
  readonly alive = new Map<Entry, number[]>();

  add(sequence: Entry): void {
    this.alive.set(sequence, []);
    this.scheduler.add(sequence);
  }

  remove(sequence: Entry): void {
    this.alive.delete(sequence);
    this.copy(this.scheduler.remove(sequence));
  }

  step(): boolean {
    const step = this.scheduler.next();
    if (step === undefined) return false;
    const { rows } = this.scheduler;
    expect(step.count).toBeGreaterThan(0);
    if (step.kind === 'prefill') expect(step.count * step.width).toBeLessThanOrEqual(limits.prefillTokens);
    for (let index = step.first; index < step.first + step.count; index++) {
      const { sequence, cached, decoding } = rows[index]!;
      if (step.kind === 'prefill') {
        expect(decoding).toBe(false);
        const content = [
          ...(cached === 0 ? [] : this.cache[index]!),
          ...sequence.promptIds.slice(cached, cached + step.width),
        ];
        this.cache[index] = content;
      } else if (decoding) {
        this.cache[index]!.push(this.alive.get(sequence)!.at(-1)!);
      }
    }
    const { ready, copies } = this.scheduler.advance(step);
    for (const copy of copies) this.copy(copy);
    const sequences = ready.map(({ row }) => rows[row]!.sequence);
    this.check();
    for (const sequence of sequences) {
      this.alive.get(sequence)!.push(1000 + sequence.name);
      sequence.rest -= 1;
      if (sequence.rest > 0) continue;
      this.finished.push(sequence.name);
      this.remove(sequence);
    }
    return true;
  }

  private copy(copy: RowCopy | undefined): void {
    if (copy !== undefined) this.cache[copy.to] = [...(this.cache[copy.from] ?? [])];
  }

  private check(): void {
    const { rows } = this.scheduler;
    expect(this.scheduler.demand().rows).toBeLessThanOrEqual(limits.slots);
    rows.forEach(({ sequence, cached }, index) => {
      const tokens = [...sequence.promptIds, ...this.alive.get(sequence)!];
      expect((this.cache[index] ?? []).slice(0, cached)).toEqual(tokens.slice(0, cached));
    });
  }
}

describe('Scheduler', () => {
  it('keeps every row right while sequences join, share prompts, end and are taken out', () => {
    // Few prompts, so that many wait for the same; some longer than one run reads.
    const prompt = fc.constantFrom([0], [1, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], new Array<number>(20).fill(7));
    const action = fc.oneof(
      fc.record({ do: fc.constant('add' as const), prompt, rest: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ do: fc.constant('remove' as const), which: fc.nat() }),
      fc.record({ do: fc.constant('step' as const) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const machine = new Machine();
        let added = 0;
        let removed = 0;
        for (const each of actions) {
          if (each.do === 'add') machine.add(entry(added++, each.prompt, each.rest));
          else if (each.do === 'step') machine.step();
          else if (machine.alive.size > 0) {
            machine.remove([...machine.alive.keys()][each.which % machine.alive.size]!);
            removed += 1;
          }
        }
        for (let steps = 0; machine.step(); steps++) expect(steps).toBeLessThan(2000);
        expect(machine.finished.length).toBe(added - removed);
        expect(new Set(machine.finished).size).toBe(machine.finished.length);
      }),
      { numRuns: 300 },
    );
  });

  it('reads a prompt once for all who wait for it', () => {
    const scheduler = new Scheduler<Entry>(limits);
    for (let name = 0; name < 3; name++) scheduler.add(entry(name, [5, 6, 7]));
    const step = scheduler.next()!;
    expect(step).toEqual({ kind: 'prefill', first: 0, count: 1, width: 3 });
    expect(scheduler.advance(step)).toEqual({
      ready: [0, 1, 2].map((row) => ({ source: 0, row })),
      copies: [1, 2].map((to) => ({ from: 0, to })),
    });
  });

  it('reads prompts of similar length together, and very different ones apart', () => {
    const scheduler = new Scheduler<Entry>(limits);
    scheduler.add(entry(0, [1, 1, 1, 1, 1, 1, 1, 1]));
    scheduler.add(entry(1, [2]));
    scheduler.add(entry(2, [3, 3, 3, 3, 3, 3, 3]));
    const first = scheduler.next()!;
    expect(first).toMatchObject({ count: 1, width: 1 });
    scheduler.advance(first);
    expect(scheduler.next()).toMatchObject({ first: 1, count: 2, width: 8 });
  });

  it('lets decoding rows have a turn while long prompts are read', () => {
    const scheduler = new Scheduler<Entry>({ ...limits, prefillBurst: 16 });
    scheduler.add(entry(0, [1]));
    scheduler.advance(scheduler.next()!);
    scheduler.add(entry(1, new Array<number>(40).fill(2)));
    const kinds = Array.from({ length: 8 }, () => {
      const step = scheduler.next()!;
      scheduler.advance(step);
      return step.kind;
    });
    expect(kinds).toEqual(['prefill', 'prefill', 'decode', 'prefill', 'prefill', 'decode', 'prefill', 'decode']);
  });

  it('lets the others wait when all slots are taken, in their order', () => {
    const scheduler = new Scheduler<Entry>(limits);
    const entries = [0, 1, 2, 3, 4, 5].map((name) => entry(name, [name]));
    for (const each of entries) scheduler.add(each);
    scheduler.advance(scheduler.next()!);
    expect(scheduler.rows.map(({ sequence }) => sequence.name)).toEqual([0, 1, 2, 3]);
    scheduler.remove(entries[1]!);
    scheduler.next();
    expect(scheduler.rows.map(({ sequence }) => sequence.name)).toEqual([0, 3, 2, 4]);
  });
});

describe('a cache that has room for less than all slots', () => {
  /** Two rows of up to 8 positions, one of more. */
  const fits = (rows: number, positions: number) => rows * positions <= 16;

  it('lets sequences wait, in their order, until they fit beside the longest', () => {
    const scheduler = new Scheduler<Entry>({ ...limits, fits });
    const [long, first, second, third] = [entry(0, [1, 2, 3], 9), entry(1, [4], 3), entry(2, [5], 3), entry(3, [6], 3)];
    for (const sequence of [long, first, second, third]) scheduler.add(sequence);
    scheduler.next();
    expect(scheduler.rows.map(({ sequence }) => sequence.name)).toEqual([0]);
    scheduler.remove(long);
    scheduler.next();
    expect(scheduler.rows.map(({ sequence }) => sequence.name)).toEqual([1, 2, 3]);
  });

  it('counts those who wait for the same prompt', () => {
    const scheduler = new Scheduler<Entry>({ ...limits, fits });
    for (let name = 0; name < 3; name++) scheduler.add(entry(name, [1, 2], 6));
    scheduler.next();
    expect(scheduler.demand().rows).toBe(2);
  });
});
