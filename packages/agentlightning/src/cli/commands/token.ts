import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { makeKey, type Scope, scopes } from '../../gateway/index.ts';
import { isStoreUrl } from '../../store/index.ts';
import { adminKeyFor } from '../admin-key.ts';
import { positive } from '../numbers.ts';
import { runsBeside } from '../stack.ts';

interface TokenFlags {
  store: string;
  scope: Scope;
  hours: number;
  json?: boolean;
}

const hourMs = 3_600_000;

export function registerToken(program: Command): void {
  program
    .command('token')
    .description('make a key that opens one scope of a server for a time')
    .addOption(
      new Option('--scope <scope>', 'admin: everything; controller: runs agents; grader: judges, and reads metrics')
        .choices(scopes)
        .default('controller'),
    )
    .option('--hours <n>', 'how long it opens', positive, 24)
    .option('--store <file>', "the server's store: its admin key signs the new one", '.agl/store.db')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  agl token --scope controller --hours 8\n\nA key cannot be taken back before it ends, except by changing the admin key of the server.\n',
    )
    .action(printToken);
}

function printToken({ store, scope, hours, json }: TokenFlags): void {
  const { key: adminKey } = adminKeyFor(isStoreUrl(store) ? runsBeside(store) : resolve(store));
  const expiresAt = Date.now() + Math.round(hours * hourMs);
  const key = makeKey(adminKey, { scope, expiresAt });
  const line = json ? JSON.stringify({ key, scope, expiresAt: new Date(expiresAt).toISOString() }) : key;
  process.stdout.write(`${line}\n`);
}
