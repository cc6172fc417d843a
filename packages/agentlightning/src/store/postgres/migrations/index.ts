/**
 * The steps from an empty schema to the present one. They must not know the driver: a step is SQL text. A test holds the
 * tables to those of sqlite/migrations/: a step there is a step here, with the types of PostgreSQL.
 */
import type { Migration } from '../../sql/index.ts';
import { controlPlane } from './001-control-plane.ts';
import { records } from './002-records.ts';
import { rareRows } from './003-rare-rows.ts';

/** In order. A released migration is never changed; a change of the schema is a new file. */
export const migrations: readonly Migration[] = [controlPlane, records, rareRows];
