import type { Json, JsonObject } from '../../store/types.ts';

/** Google's `Schema` as JSON schema: its type names are in capitals, and lengths are written as texts. */
export function jsonSchema(schema: JsonObject): JsonObject {
  const read: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === null) continue;
    if (name === 'type' && typeof value === 'string') read.type = value.toLowerCase();
    else if (name === 'properties' && isObject(value)) read.properties = mapObject(value, convert);
    else if (name === 'anyOf' && Array.isArray(value)) read.anyOf = value.map(convert);
    else if (name === 'items') read.items = convert(value);
    else if (/^(min|max)(Items|Length|Properties)$/.test(name)) read[name] = Number(value);
    else read[name] = value;
  }
  return read;
}

function convert(value: Json): Json {
  return isObject(value) ? jsonSchema(value) : value;
}

function mapObject(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
