import { type StateMachine, statesOf } from '../transitions.ts';

/** The states of a machine as a check constraint of the column `state`. */
export function stateCheck(machine: StateMachine<string, string>): string {
  const states = statesOf(machine).map((state) => `'${state}'`);
  return `check (state in (${states.join(', ')}))`;
}
