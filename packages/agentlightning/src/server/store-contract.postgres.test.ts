import { openPostgresHarness } from '../store/postgres/testing/index.ts';
import { describeStore } from '../store/testing/index.ts';
import { overHttp } from './testing/store-server.ts';

describeStore('a store in PostgreSQL over HTTP', overHttp(openPostgresHarness));
