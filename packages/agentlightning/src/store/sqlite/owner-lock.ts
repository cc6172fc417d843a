import { hostname } from 'node:os';
import { DatabaseSync } from '@photostructure/sqlite';
import { StoreError } from '../errors.ts';
import { translating } from './driver-errors.ts';
import { type Database, query } from './statements.ts';

export interface OwnerLock {
  release(): void;
}

interface Owner {
  pid: number;
  host: string;
}

/**
 * One process owns a store. The lock is a write transaction held open on a small SQLite file beside the store: the
 * operating system drops it with the process, however that ends, so no check of process ids can be fooled by a reused
 * id or a container. Others can still read the owner's id from the file, for their error message.
 *
 * @throws {StoreError} `store_in_use`
 */
export function takeOwnership(path: string): OwnerLock {
  const lockPath = `${path}-owner`;
  const lock = translating(path, () => new DatabaseSync(lockPath, { timeout: 0 }));
  try {
    lock.exec('pragma synchronous = off'); // nothing here has to survive a power failure
    hold(lock, path);
    translating(lockPath, () => announce(lock, { pid: process.pid, host: hostname() }));
    hold(lock, path);
  } catch (error) {
    lock.close();
    throw error;
  }
  return {
    release: () => {
      lock.exec('rollback'); // see closeDatabase: a close alone may come to effect much later
      lock.close();
    },
  };
}

function hold(lock: Database, path: string): void {
  try {
    lock.exec('begin immediate');
  } catch (error) {
    if (error instanceof Error && error.message.includes('locked')) throw inUse(path, readOwner(lock), error);
    throw error;
  }
}

function announce(lock: Database, { pid, host }: Owner): void {
  lock.exec('create table if not exists owner (pid integer not null, host text not null) strict; delete from owner');
  query(lock, 'insert into owner (pid, host) values (?, ?)', pid, host);
  lock.exec('pragma busy_timeout = 2000'); // somebody may be reading the owner just now
  lock.exec('commit; pragma busy_timeout = 0');
}

function readOwner(lock: Database): Owner | null {
  try {
    return query<Owner>(lock, 'select pid, host from owner')[0] ?? null;
  } catch {
    return null; // its owner is just writing it for the first time
  }
}

function inUse(path: string, owner: Owner | null, cause: Error): StoreError {
  const who =
    owner === null
      ? 'another process'
      : owner.pid === process.pid && owner.host === hostname()
        ? 'this process itself'
        : `process ${owner.pid}${owner.host === hostname() ? '' : ` on ${owner.host}`}`;
  return new StoreError({
    code: 'store_in_use',
    category: 'user',
    message: `The store ${path} is in use by ${who}; only one process may have it open.`,
    hint: 'Go through it (--store http://…, where it serves the store), wait for it or stop it, or take a store file of its own.',
    cause,
  });
}
