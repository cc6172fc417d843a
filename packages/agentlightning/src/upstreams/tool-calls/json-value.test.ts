import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberText } from './json-value.ts';

describe('memberText', () => {
  it('gives the text between colon and comma, untouched', () => {
    const json = '{ "a" : {"x":1.50, "arguments": [1,2 ,"}"]} ,"arguments":  {"b" : "\\"}, {"} , "c": 1}';
    expect(memberText(json, 'arguments')).toBe('{"b" : "\\"}, {"}');
    expect(memberText(json, 'a')).toBe('{"x":1.50, "arguments": [1,2 ,"}"]}');
    expect(memberText(json, 'missing')).toBeNull();
  });

  it('takes the last of a repeated key, as JSON.parse does', () => {
    expect(memberText('{"a": 1, "a": {"b": 2}}', 'a')).toBe('{"b": 2}');
  });

  it('agrees with JSON.parse for any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, indent) => {
        const json = JSON.stringify(object, null, indent);
        const parsed = JSON.parse(json) as Record<string, unknown>;
        for (const key of Object.keys(parsed)) {
          expect(JSON.parse(memberText(json, key) ?? 'missing')).toEqual(parsed[key]);
        }
      }),
    );
  });
});
