import { describeStore } from '../testing/index.ts';
import { openSqliteHarness } from './testing/harness.ts';

describeStore('the store in an SQLite file', openSqliteHarness);
