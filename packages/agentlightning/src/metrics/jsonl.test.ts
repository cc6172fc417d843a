import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonlSink } from './jsonl.ts';

const event = { kind: 'notice', step: 1, level: 'info', code: 'x', message: 'y' } as const;

describe('jsonl sink', () => {
  it('appends, so that a resumed run continues the file', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'agl-')), 'deep', 'metrics.jsonl');
    for (let run = 0; run < 2; run++) {
      const sink = jsonlSink(path);
      sink.write(event);
      await sink.close();
    }
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(event)}\n`.repeat(2));
  });

  it.runIf(existsSync('/dev/full'))('names the file when the disk is full', () => {
    const sink = jsonlSink('/dev/full');
    expect(() => sink.write(event)).toThrow(/Cannot write metrics to \/dev\/full/);
  });
});
