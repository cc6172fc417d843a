import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IllegalTransitionError } from './errors.ts';
import {
  attemptMachine,
  hasEnded,
  rolloutEventAfter,
  rolloutMachine,
  type StateMachine,
  stateDiagram,
  statesAllowing,
  statesOf,
  transition,
  workerMachine,
} from './transitions.ts';

const machines: StateMachine<string, string>[] = [rolloutMachine, attemptMachine, workerMachine];

describe.each(machines)('state machine of a $name', (machine) => {
  const states = statesOf(machine);
  const events = [...new Set(states.flatMap((state) => Object.keys(machine.table[state]!)))];

  it('takes the steps of its table and refuses all others, naming state and event', () => {
    fc.assert(
      fc.property(fc.constantFrom(...states), fc.constantFrom(...events), (state, event) => {
        const legal = machine.table[state]![event];
        const step = (): string => transition(machine, { id: 'x', state }, event);
        expect(statesAllowing(machine, event).includes(state)).toBe(legal !== undefined);
        if (legal !== undefined) {
          expect(states).toContain(step());
          expect(step()).toBe(legal);
        } else {
          expect(step).toThrow(IllegalTransitionError);
          expect(step).toThrow(`The ${machine.name} "x" is "${state}", and "${event}" is no step from there.`);
        }
      }),
    );
  });

  it('leaves an ended state only when asked to explicitly, and can always reach one', () => {
    fc.assert(
      fc.property(fc.constantFrom(...states), fc.array(fc.constantFrom(...events)), (start, tries) => {
        let state = start;
        for (const event of tries) {
          const ended = hasEnded(machine, state);
          try {
            state = transition(machine, { id: 'x', state }, event);
            expect(ended && !['requeue', 'register'].includes(event)).toBe(false);
          } catch (error) {
            expect(error).toBeInstanceOf(IllegalTransitionError);
          }
        }
        const way = Object.values(machine.table[state]!).some((next) => hasEnded(machine, next!));
        expect(hasEnded(machine, state) || way).toBe(true);
      }),
    );
  });

  it('is drawn in docs/store.md as it is', () => {
    const page = readFileSync(new URL('../../../../docs/store.md', import.meta.url), 'utf8');
    expect(page).toContain(`\`\`\`mermaid\n${stateDiagram(machine)}\n\`\`\``);
  });
});

it('tries a rollout again only for the infrastructure, and only while attempts are left', () => {
  const failed = (failureClass: 'agent' | 'infrastructure') => ({
    state: 'failed' as const,
    failure: { class: failureClass, code: 'x', message: 'x' },
  });
  expect(rolloutEventAfter(failed('infrastructure'), { attempts: 1, maxAttempts: 2 })).toBe('retry');
  expect(rolloutEventAfter(failed('infrastructure'), { attempts: 2, maxAttempts: 2 })).toBe('fail');
  expect(rolloutEventAfter(failed('agent'), { attempts: 1, maxAttempts: 2 })).toBe('fail');
});
