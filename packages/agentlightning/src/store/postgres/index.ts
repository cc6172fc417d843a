/**
 * A PostgreSQL database as the store: connections, what a lost one means, notifications, migrations.
 * It must not know what the tables mean to anybody: that is sql/.
 */
export { describeLocation } from './location.ts';
export { openPostgresStore, openPostgresTables } from './open.ts';
