import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLogTail } from './log-tail.ts';

it('keeps exactly the last bytes, whatever the pieces were (property)', () => {
  const chunks = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 20 }), { maxLength: 20 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 16 }), (parts, limit) => {
      const tail = createLogTail(limit);
      for (const part of parts) tail.append(Buffer.from(part));
      const all = parts.join('');
      const dropped = all.length - limit;
      const note = dropped > 0 ? `[${dropped} bytes before this were left out]\n` : '';
      expect(tail.text()).toBe(note + all.slice(-limit));
    }),
  );
});

it('does not begin in the middle of a character', () => {
  const tail = createLogTail(4);
  tail.append(Buffer.from('äöü'));
  tail.append(Buffer.from('x'));
  expect(tail.text()).toBe('[3 bytes before this were left out]\nüx');
});
