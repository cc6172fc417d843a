import { describeStore } from '../testing/index.ts';
import { openMemoryHarness, openSqliteHarness } from './testing/index.ts';

describeStore('the store in an SQLite file', openSqliteHarness);
describeStore('the store in memory', openMemoryHarness);
