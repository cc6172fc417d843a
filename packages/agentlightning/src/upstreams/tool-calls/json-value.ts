/**
 * The text of one member's value in a JSON object, exactly as it was written; of a repeated key the last, as `JSON.parse` has it.
 *
 * @param json text that `JSON.parse` accepts, of an object
 * @returns null when the object has no such member
 */
export function memberText(json: string, key: string): string | null {
  let found: string | null = null;
  let depth = 0;
  let memberKey: string | null = null;
  let valueStart = -1;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') {
      const end = stringEnd(json, index);
      if (depth === 1 && memberKey === null) memberKey = JSON.parse(json.slice(index, end)) as string;
      index = end - 1;
    } else if (character === ':' && depth === 1 && valueStart < 0) {
      valueStart = index + 1;
    } else if (depth === 1 && (character === ',' || character === '}')) {
      if (memberKey === key) found = json.slice(valueStart, index).trim();
      memberKey = null;
      valueStart = -1;
      if (character === '}') depth -= 1;
    } else if (character === '{' || character === '[') {
      depth += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
    }
  }
  return found;
}

/** Index after the closing quote of the string that opens at `start`. */
function stringEnd(json: string, start: number): number {
  let index = start + 1;
  while (json[index] !== '"') index += json[index] === '\\' ? 2 : 1;
  return index + 1;
}
