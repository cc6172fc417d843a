import type { Store } from '../store/store.ts';
import type { Json } from '../store/types.ts';
import { Fields } from './fields.ts';
import { invalidField, RequestError } from './request-error.ts';
import type { Session } from './session.ts';

export interface OwnReward {
  name: string;
  value: number | null;
}

/**
 * A reward that an agent gives its own attempt: `{"name"?: text, "value": number | null, "attemptId"?: own id}`.
 *
 * @throws {RequestError} that names the field
 */
export async function addOwnReward(store: Pick<Store, 'addReward'>, session: Session, body: Json): Promise<OwnReward> {
  if (session.mode === 'serve') {
    throw new RequestError({
      code: 'no_attempt',
      status: 403,
      message: 'A reward belongs to an attempt: use the key that the attempt was given.',
    });
  }
  const fields = Fields.of(body, '');
  const name = fields.string('name') ?? 'reward';
  if (name === '' || name.length > 200) throw invalidField('name', 'a text of 1 to 200 characters');
  const value = readValue(body, fields);
  const attemptId = fields.string('attemptId') ?? session.attemptId;
  if (attemptId !== session.attemptId) throw invalidField('attemptId', 'the attempt that the key belongs to');
  const unknown = Object.keys(fields.unread())[0];
  if (unknown !== undefined) {
    throw new RequestError({
      code: 'unknown_field',
      field: unknown,
      message: `"${unknown}" is no field of a reward; the fields are "name", "value" and "attemptId".`,
    });
  }
  const { agentName } = session;
  await store.addReward({ attemptId, name, value, source: 'agent', agentName, callId: null });
  return { name, value };
}

/** `null` is a reward that is known to be missing; a forgotten value is a mistake. */
function readValue(body: Json, fields: Fields): number | null {
  const value = fields.value('value');
  const given = typeof body === 'object' && body !== null && Object.hasOwn(body, 'value');
  if (value === undefined && given) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw invalidField('value', 'a finite number or null');
}
