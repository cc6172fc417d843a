// npm run test:clients [-- --only javascript]: holds the same conversations with each of the client libraries of tests/clients through the
// gateway.
import { runForeignTests } from './foreign-tests.mjs';

runForeignTests({ name: 'clients', file: 'clients.test.mjs' });
