import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLastLine } from './last-line.ts';

it('finds the last line that is not blank, however the text was cut (property)', () => {
  const lines = fc.array(fc.constantFrom('', ' ', 'a', 'bc', 'dé'), { maxLength: 8 });
  fc.assert(
    fc.property(lines, fc.boolean(), fc.array(fc.nat(24)), (texts, endsWithNewline, cuts) => {
      const bytes = Buffer.from(texts.join('\n') + (endsWithNewline ? '\n' : ''));
      const line = createLastLine();
      let from = 0;
      for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
        line.append(bytes.subarray(from, cut));
        from = Math.max(from, Math.min(cut, bytes.length));
      }
      const expected = texts.findLast((text) => text.trim() !== '');
      expect(line.read()?.text).toBe(expected);
    }),
  );
});

it('says when a line is too long, and forgets that with the next line', () => {
  const line = createLastLine(4);
  line.append(Buffer.from('12'));
  line.append(Buffer.from('345'));
  expect(line.read()).toEqual({ text: '1234', tooLong: true });
  line.append(Buffer.from('\n'));
  expect(line.read()).toEqual({ text: '1234', tooLong: true });
  line.append(Buffer.from('ok\n'));
  expect(line.read()).toEqual({ text: 'ok', tooLong: false });
});
