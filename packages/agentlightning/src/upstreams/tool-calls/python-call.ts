import type { WrittenCall } from './call-json.ts';

const whole = /^\s*([A-Za-z_]\w*)\.call\(([\s\S]*)\)\s*$/;
const argument = /\s*([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|True|False|None)\s*(?:,|$)/y;
const literals: Record<string, string> = { True: 'true', False: 'false', None: 'null' };

/** `name.call(key="value", …)` with plain values; null for other Python. */
export function pythonCall(code: string): WrittenCall | null {
  const match = whole.exec(code);
  if (match === null) return null;
  const [, name = '', inner = ''] = match;
  const given: string[] = [];
  argument.lastIndex = 0;
  while (argument.lastIndex < inner.length) {
    const found = argument.exec(inner);
    if (found === null) return null;
    const [, key = '', value = ''] = found;
    given.push(`${JSON.stringify(key)}: ${jsonValue(value)}`);
  }
  return { name, argumentsText: `{${given.join(', ')}}` };
}

function jsonValue(value: string): string {
  if (!value.startsWith('"')) return literals[value] ?? value;
  // Python escapes more than JSON does.
  return JSON.stringify(
    value
      .slice(1, -1)
      .replace(/\\(["\\])/g, '$1')
      .replaceAll('\\n', '\n'),
  );
}
