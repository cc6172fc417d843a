import { describeStore } from '../testing/index.ts';
import { openPostgresHarness } from './testing/index.ts';

describeStore('the store in PostgreSQL', openPostgresHarness);
