import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThinkingParser } from './thinking.ts';
import { cutText } from './tool-calls/testing/read-calls.ts';

function read(pieces: string[], opened = false): { reasoning: string; answer: string } {
  const parser = new ThinkingParser(opened);
  const parts = [...pieces.map((piece) => parser.push(piece)), parser.end()];
  return {
    reasoning: parts.map(({ reasoning }) => reasoning).join(''),
    answer: parts.map(({ answer }) => answer).join(''),
  };
}

describe('ThinkingParser', () => {
  it('cuts a block out of the beginning, white space around it too', () => {
    expect(read(['\n<think>\nhm, 6*7\n</think>\n\n42 '])).toEqual({ reasoning: 'hm, 6*7', answer: '42 ' });
    expect(read(['<think>\n\n</think>\n\n42'])).toEqual({ reasoning: '', answer: '42' });
  });

  it('goes on in a block that the template has opened', () => {
    expect(read(['hm\n</think>\n\n42'], true)).toEqual({ reasoning: 'hm', answer: '42' });
    expect(read(['hm, no end'], true)).toEqual({ reasoning: 'hm, no end', answer: '' });
  });

  it('takes an answer without thinking, and a block further on, as text', () => {
    expect(read([' 42'])).toEqual({ reasoning: '', answer: ' 42' });
    expect(read(['so <think>x</think>'])).toEqual({ reasoning: '', answer: 'so <think>x</think>' });
    expect(read(['<thi'])).toEqual({ reasoning: '', answer: '<thi' });
  });

  it('tells thinking as it comes', () => {
    const parser = new ThinkingParser(false);
    const told = ['<th', 'ink>so', ' then', '</', 'think>', '42'].map((piece) => parser.push(piece).reasoning);
    expect(told).toEqual(['', 'so', ' then', '', '', '']);
  });

  it('reads the same however the text is cut', () => {
    fc.assert(
      fc.property(cutText(['<think>', '</think>', '<th', '</']), fc.boolean(), ({ whole, pieces }, opened) => {
        expect(read(pieces, opened)).toEqual(read([whole], opened));
      }),
      { numRuns: 2000 },
    );
  });
});
