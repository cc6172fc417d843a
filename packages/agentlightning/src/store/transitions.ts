import { IllegalTransitionError } from './errors.ts';
import type { AttemptState, Failure, Rollout, RolloutState, WorkerState } from './types.ts';

export type TransitionTable<State extends string, Event extends string> = Record<State, Partial<Record<Event, State>>>;

export type RolloutEvent = 'claim' | 'retry' | 'succeed' | 'fail' | 'cancel' | 'requeue';
export type AttemptEvent = 'succeed' | 'fail' | 'lose' | 'cancel';
export type WorkerEvent = 'register' | 'take' | 'rest' | 'miss' | 'return' | 'leave';

/** The SQL check constraints, the diagrams in docs/store.md and the property test derive from these tables. */
export const rolloutTransitions = {
  queued: { claim: 'running', cancel: 'cancelled' },
  running: { succeed: 'succeeded', fail: 'failed', retry: 'queued', cancel: 'cancelled' },
  succeeded: { requeue: 'queued' },
  failed: { requeue: 'queued' },
  cancelled: { requeue: 'queued' },
} as const satisfies TransitionTable<RolloutState, RolloutEvent>;

export const attemptTransitions = {
  running: { succeed: 'succeeded', fail: 'failed', lose: 'failed', cancel: 'cancelled' },
  succeeded: {},
  failed: {},
  cancelled: {},
} as const satisfies TransitionTable<AttemptState, AttemptEvent>;

export const workerTransitions = {
  idle: { take: 'busy', miss: 'lost', leave: 'gone' },
  busy: { rest: 'idle', miss: 'lost', leave: 'gone' },
  lost: { return: 'idle', leave: 'gone' },
  gone: { register: 'idle' },
} as const satisfies TransitionTable<WorkerState, WorkerEvent>;

export interface StateMachine<State extends string, Event extends string> {
  /** As it stands in error messages. */
  name: string;
  table: TransitionTable<State, Event>;
  /** States that nothing leaves by itself: at most somebody asks for it explicitly. */
  ended: readonly State[];
}

const outcomes = ['succeeded', 'failed', 'cancelled'] as const;

export const rolloutMachine: StateMachine<RolloutState, RolloutEvent> = {
  name: 'rollout',
  table: rolloutTransitions,
  ended: outcomes,
};
export const attemptMachine: StateMachine<AttemptState, AttemptEvent> = {
  name: 'attempt',
  table: attemptTransitions,
  ended: outcomes,
};
export const workerMachine: StateMachine<WorkerState, WorkerEvent> = {
  name: 'worker',
  table: workerTransitions,
  ended: ['gone'],
};

/**
 * @returns the state after `event`
 * @throws {IllegalTransitionError} when the table has no such step
 */
export function transition<State extends string, Event extends string>(
  machine: StateMachine<State, Event>,
  subject: { id: string; state: State },
  event: Event,
): State {
  const next = machine.table[subject.state][event];
  if (next === undefined) {
    throw new IllegalTransitionError({
      machine: machine.name,
      id: subject.id,
      state: subject.state,
      event,
      allowed: Object.keys(machine.table[subject.state]),
    });
  }
  return next;
}

export function statesOf<State extends string>(machine: StateMachine<State, string>): State[] {
  return Object.keys(machine.table) as State[];
}

/** States from which `event` is a legal step. */
export function statesAllowing<State extends string, Event extends string>(
  machine: StateMachine<State, Event>,
  event: Event,
): State[] {
  return statesOf(machine).filter((state) => machine.table[state][event] !== undefined);
}

/** True in the states in which nothing more happens unless somebody asks for it. */
export function hasEnded<State extends string>(machine: StateMachine<State, string>, state: State): boolean {
  return machine.ended.includes(state);
}

/** The machine as a Mermaid diagram, as it stands in docs/store.md. */
export function stateDiagram(machine: StateMachine<string, string>): string {
  const lines = statesOf(machine).flatMap((state) => {
    const steps = Object.entries(machine.table[state]!).map(([event, next]) => `    ${state} --> ${next}: ${event}`);
    return hasEnded(machine, state) ? [...steps, `    ${state} --> [*]`] : steps;
  });
  return ['stateDiagram-v2', `    [*] --> ${statesOf(machine)[0]}`, ...lines].join('\n');
}

/** What the end of an attempt means for its rollout: an infrastructure failure is tried again while attempts are left. */
export function rolloutEventAfter(
  attempt: { state: 'succeeded' | 'failed' | 'cancelled'; failure: Failure | null },
  rollout: Pick<Rollout, 'attempts' | 'maxAttempts'>,
): RolloutEvent {
  if (attempt.state === 'succeeded') return 'succeed';
  if (attempt.state === 'cancelled') return 'cancel';
  const again = attempt.failure?.class === 'infrastructure' && rollout.attempts < rollout.maxAttempts;
  return again ? 'retry' : 'fail';
}
