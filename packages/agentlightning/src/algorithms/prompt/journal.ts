import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage, Work } from './ledger.ts';

/** Something that was paid for, kept so that a resumed run does not pay again. */
export type JournalEntry =
  | { work: Extract<Work, 'rollout'>; id: string; usage: Usage }
  | { work: Extract<Work, 'question'>; id: string; usage: Usage; answer: string };

export interface Journal {
  /** Of earlier processes of the run, in order. */
  entries: readonly JournalEntry[];
  /** Durable when it resolves. */
  append(entry: JournalEntry): Promise<void>;
}

/** `search.jsonl` in the folder of a run. A last line that a kill has cut off counts as not written. */
export async function openJournal(folder: string): Promise<Journal> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'search.jsonl');
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n');
  const cut = lines.pop() !== '';
  const entries = lines.filter((line) => line !== '').flatMap(parsed);
  let writing: Promise<unknown> = Promise.resolve();
  let first = cut;
  return {
    entries,
    append(entry) {
      const written = writing.then(async () => {
        const file = await open(path, 'a');
        try {
          await file.appendFile(`${first ? '\n' : ''}${JSON.stringify(entry)}\n`);
          first = false;
          await file.datasync();
        } finally {
          await file.close();
        }
      });
      writing = written.catch(() => {});
      return written;
    },
  };
}

function parsed(line: string): JournalEntry[] {
  try {
    return [JSON.parse(line) as JournalEntry];
  } catch {
    return []; // cut off by a kill, and written past since
  }
}
