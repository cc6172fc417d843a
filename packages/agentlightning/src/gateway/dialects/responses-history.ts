import type { Json, JsonObject } from '../../store/types.ts';
import { Fields } from '../fields.ts';
import { invalidField, RequestError } from '../request-error.ts';
import type { EarlierCall } from './dialect.ts';

/** What stands in front of a call's id to make its response's id. */
export const responsePrefix = 'resp_';

/** An item of a conversation and where it stands, for error messages. */
export interface InputItem {
  value: Json;
  path: string;
}

/** True when the request names an earlier response, or an item of one. */
export function refersBack(body: Json): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  if (typeof body.previous_response_id === 'string') return true;
  return Array.isArray(body.input) && body.input.some(isReference);
}

/**
 * The whole conversation: what `previous_response_id` leads to, then the request's own input, with each `item_reference`
 * replaced by what it names. Instructions of earlier requests are left out, as the protocol says.
 *
 * @throws {RequestError} for an id that no recorded call of the attempt has
 */
export function conversation(fields: Fields, earlier: readonly EarlierCall[]): InputItem[] {
  const previousId = fields.string('previous_response_id');
  const own = ownInput(fields.value('input'), 'input');
  if (own.length === 0 && previousId === undefined) throw invalidField('input', 'a text or at least one item');
  const before = previousId === undefined ? [] : itemsUntil(previousId, earlier);
  const found = new Map<string, Json>();
  return [...before, ...own].map((item) => {
    if (!isReference(item.value)) return item;
    if (found.size === 0) index(earlier, found);
    return { ...item, value: referenced(item, found) };
  });
}

function itemsUntil(previousId: string, earlier: readonly EarlierCall[]): InputItem[] {
  const path = 'previous_response_id';
  const turns: InputItem[][] = [];
  for (let id: Json | undefined = previousId; typeof id === 'string'; ) {
    const call = earlier.find((known) => `${responsePrefix}${known.id}` === id);
    if (call === undefined) throw responseNotFound(id);
    turns.push([...ownInput(call.request.input, path), ...outputOf(call).map((value) => ({ value, path }))]);
    id = call.request.previous_response_id;
  }
  return turns.reverse().flat();
}

function ownInput(input: Json | undefined, path: string): InputItem[] {
  if (input === undefined || input === '') return [];
  if (typeof input === 'string') return [{ value: { role: 'user', content: input }, path }];
  if (Array.isArray(input)) return input.map((value, place) => ({ value, path: `${path}[${place}]` }));
  throw invalidField(path, 'a text or an array of items');
}

function outputOf({ response }: EarlierCall): Json[] {
  return Array.isArray(response.output) ? response.output : [];
}

function index(earlier: readonly EarlierCall[], found: Map<string, Json>): void {
  for (const call of earlier) {
    const input = Array.isArray(call.request.input) ? call.request.input : [];
    for (const item of [...input, ...outputOf(call)]) {
      if (isObject(item) && typeof item.id === 'string' && !isReference(item)) found.set(item.id, item);
    }
  }
}

function referenced({ value, path }: InputItem, found: Map<string, Json>): Json {
  const id = Fields.of(value, path).requiredString('id');
  const item = found.get(id);
  if (item !== undefined) return item;
  throw new RequestError({
    code: 'item_not_found',
    status: 404,
    field: `${path}.id`,
    message: `"${path}.id" refers to the item "${id}", which no recorded answer of this attempt has.`,
  });
}

function responseNotFound(id: string): RequestError {
  return new RequestError({
    code: 'previous_response_not_found',
    field: 'previous_response_id',
    message: `Previous response with id "${id}" not found: no recorded call of this attempt has it.`,
    hint: 'Send the conversation in "input" instead.',
  });
}

function isReference(item: Json): boolean {
  return isObject(item) && item.type === 'item_reference';
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
