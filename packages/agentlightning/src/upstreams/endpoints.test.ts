import { describe, expect, it } from 'vitest';
import { Endpoints } from './endpoints.ts';

const urls = ['http://a', 'http://b', 'http://c', 'http://d'];
const attempts = Array.from({ length: 2000 }, (_, index) => `attempt-${index}`);

describe('Endpoints', () => {
  it('sends all calls of an attempt to one server, and attempts to all of them alike', () => {
    const endpoints = new Endpoints({ urls, now: () => 0 });
    const counts = new Map<string, number>();
    for (const attempt of attempts) {
      const [first = ''] = endpoints.order(attempt);
      expect(endpoints.order(attempt)[0]).toBe(first);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    for (const url of urls) expect(counts.get(url)).toBeGreaterThan(400);
  });

  it('moves only the attempts of a server that has gone', () => {
    const before = new Endpoints({ urls, now: () => 0 });
    const after = new Endpoints({ urls: urls.slice(1), now: () => 0 });
    for (const attempt of attempts) {
      const [first] = before.order(attempt);
      if (first !== urls[0]) expect(after.order(attempt)[0]).toBe(first);
    }
  });

  it('asks one that failed last, until it has rested or worked', () => {
    let now = 0;
    const endpoints = new Endpoints({ urls, now: () => now, restMs: 100 });
    const [first = '', second] = endpoints.order('x');
    endpoints.failed(first);
    expect(endpoints.order('x')[0]).toBe(second);
    expect(endpoints.order('x').at(-1)).toBe(first);
    now = 100;
    expect(endpoints.order('x')[0]).toBe(first);
    endpoints.failed(first);
    endpoints.worked(first);
    expect(endpoints.order('x')[0]).toBe(first);
  });
});
