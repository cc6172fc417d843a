import type { Kysely, Selectable } from 'kysely';
import { StoreError } from '../errors.ts';
import { itemsOf, ownItems } from '../request-items.ts';
import type { Call, CallChoice } from '../types.ts';
import { ownerOf, requireAttempt } from './attempts.ts';
import { toCall, toCallRow, toChoice, toChoiceRow } from './call-rows.ts';
import { type CallTrees, continuation } from './call-trees.ts';
import { announce } from './changes.ts';
import { chunksOf } from './chunks.ts';
import type { CallTable, StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/** Recording the same id again changes nothing, so that a recorder may retry. @throws {NotFoundError} for an unknown attempt */
export async function recordCall(
  db: Database,
  call: Call,
  { trees, now }: { trees: CallTrees; now: number },
): Promise<void> {
  const { rolloutId, runId, late } = await ownerOf(db, call.attemptId);
  const tree = await trees.of(db, call.attemptId);
  if (rolloutId !== call.rolloutId) {
    throw new StoreError({
      code: 'invalid_value',
      message: `Call "${call.id}" names rollout "${call.rolloutId}", but its attempt "${call.attemptId}" belongs to "${rolloutId}".`,
    });
  }
  const items = itemsOf(call.request);
  const shared = tree.match(call.promptIds, items);
  const newPromptIds = call.promptIds?.subarray(shared.sharedTokens) ?? null;

  const inserted = await db
    .insertInto('calls')
    .values(toCallRow(call, { shared, newPromptIds, runId, late }))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  if (inserted.numInsertedOrUpdatedRows === 0n) return;
  const choices = call.choices.map((choice, position) => toChoiceRow(call.id, choice, position));
  for (const chunk of chunksOf(choices)) await db.insertInto('call_choices').values(chunk).execute();
  tree.add({
    ...shared,
    id: call.id,
    tokens: continuation(newPromptIds, call.choices[0]?.tokenIds ?? null),
    items: ownItems(items, shared.sharedItems),
  });
  announce(db, [{ kind: 'call', id: call.id, runId }], now);
}

/** In order of `sequence`. Items of requests may be one object in several calls: treat them as read-only. */
export async function listCalls(db: Database, attemptId: string): Promise<Call[]> {
  const attempt = await requireAttempt(db, attemptId);
  const rows = await db.selectFrom('calls').selectAll().where('attempt_id', '=', attemptId).orderBy('seq').execute();
  const choices = await choicesOf(db, attemptId);
  const calls = new Map<string, Call>();
  for (const row of rows) {
    const parent = row.parent_id === null ? null : (calls.get(row.parent_id) ?? missingParent(row));
    calls.set(row.id, toCall(row, { parent, choices: choices.get(row.id) ?? [], rolloutId: attempt.rollout_id }));
  }
  return [...calls.values()].sort((a, b) => a.sequence - b.sequence); // stable: equal numbers stay in order of arrival
}

async function choicesOf(db: Database, attemptId: string): Promise<Map<string, CallChoice[]>> {
  const rows = await db
    .selectFrom('call_choices')
    .innerJoin('calls', 'calls.id', 'call_choices.call_id')
    .selectAll('call_choices')
    .where('calls.attempt_id', '=', attemptId)
    .orderBy('call_choices.call_id')
    .orderBy('call_choices.position')
    .execute();
  const byCall = new Map<string, CallChoice[]>();
  for (const row of rows) {
    const list = byCall.get(row.call_id) ?? [];
    list.push(toChoice(row));
    byCall.set(row.call_id, list);
  }
  return byCall;
}

function missingParent(row: Selectable<CallTable>): never {
  throw new StoreError({
    code: 'store_corrupted',
    message: `Call "${row.id}" shares its prefix with call "${row.parent_id}", which is not there.`,
    hint: 'Restore the store file from a copy.',
  });
}
