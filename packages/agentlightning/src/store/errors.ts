import { AgentLightningError, type AgentLightningErrorOptions } from '../errors.ts';

export type Kind = 'run' | 'task' | 'rollout' | 'attempt' | 'call' | 'worker' | 'resource';

/** An id that the store has never seen. Code: `run_not_found`, `attempt_not_found`, … */
export class NotFoundError extends AgentLightningError {
  readonly kind: Kind;
  readonly id: string;

  constructor(kind: Kind, id: string) {
    super({
      code: `${kind}_not_found`,
      message: `The store has no ${kind} "${id}".`,
      hint: `Check the id, and that this is the store file in which the ${kind} was created.`,
    });
    this.kind = kind;
    this.id = id;
  }
}

export interface IllegalStep {
  machine: string;
  id: string;
  state: string;
  event: string;
  allowed: string[];
}

/** A step that the table in transitions.ts does not have. */
export class IllegalTransitionError extends AgentLightningError {
  readonly step: IllegalStep;
  readonly state: string;
  readonly event: string;

  constructor(step: IllegalStep) {
    const allowed =
      step.allowed.length === 0 ? 'It has ended; nothing changes it.' : `Legal: ${step.allowed.join(', ')}.`;
    super({
      code: 'illegal_transition',
      message: `The ${step.machine} "${step.id}" is "${step.state}", and "${step.event}" is no step from there.`,
      hint: allowed,
    });
    this.step = step;
    this.state = step.state;
    this.event = step.event;
  }
}

export type StoreErrorCode =
  /** No space left: the write is undone, everything acknowledged before is kept, and the store goes on when there is space. */
  | 'disk_full'
  /** Another process, or this one, has the file open. */
  | 'store_in_use'
  | 'store_corrupted'
  /** The file exists and is something else. */
  | 'not_a_store'
  /** A later version of this program wrote the file. */
  | 'schema_too_new'
  /** The file cannot be opened, read or written: a missing right, a folder in its place, a failing disk. */
  | 'store_unavailable'
  | 'store_closed'
  | 'run_exists'
  /** A value that cannot be kept as it is, for instance a NaN reward. */
  | 'invalid_value'
  /** Heartbeat or finish by a worker that does not hold the attempt's lease. */
  | 'not_lease_holder'
  /** A cursor that no query of this store gave out. */
  | 'invalid_cursor'
  /** The feed of changes has forgotten what came after the given number. */
  | 'changes_expired'
  | 'rollout_superseded'
  /** Over HTTP: the server could not be reached, or said that it cannot work now. Nothing was done. */
  | 'store_unreachable'
  /** Over HTTP: the connection broke before the answer, so a write that may not be sent twice may or may not have been done. */
  | 'answer_lost'
  /** Over HTTP: the server answered something that is no answer of this version. */
  | 'unreadable_answer';

/** Something is wrong with the store's file, or with a value that was given to it. */
export class StoreError extends AgentLightningError {
  declare readonly code: StoreErrorCode;

  constructor(options: AgentLightningErrorOptions & { code: StoreErrorCode }) {
    super(options);
  }
}
