// npm run test:instrumentations [-- --only javascript]: has the instrumentations of tests/instrumentations export a two-agent run to the
// receiver, and reads the same steps, names and tool results from each.
import { runForeignTests } from './foreign-tests.mjs';

runForeignTests({ name: 'instrumentations', file: 'instrumentations.test.mjs' });
