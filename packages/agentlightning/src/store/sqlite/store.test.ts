import { describeStore } from '../testing/index.ts';
import { openSqliteHarness } from './testing/index.ts';

describeStore('the store in an SQLite file', openSqliteHarness);
