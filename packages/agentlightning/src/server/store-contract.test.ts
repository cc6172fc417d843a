import { openMemoryHarness, openSqliteHarness } from '../store/sqlite/testing/index.ts';
import { describeStore } from '../store/testing/index.ts';
import { overHttp } from './testing/store-server.ts';

describeStore('an SQLite store over HTTP', overHttp(openSqliteHarness));
describeStore('a store in memory over HTTP', overHttp(openMemoryHarness));
