import { Pool } from 'undici';

/**
 * Holds `calls` model calls with `concurrency` at a time and reads each answer to its end.
 * @returns calls a second, and the times of single calls in milliseconds, sorted
 */
export async function load({ origin, path, headersOf, body, calls, concurrency, complete }) {
  const pool = new Pool(origin, {
    connections: concurrency,
    pipelining: 1,
    bodyTimeout: 120_000,
    headersTimeout: 120_000,
  });
  const text = JSON.stringify(body);
  const times = [];
  let next = 0;
  const client = async () => {
    while (next < calls) {
      const index = next;
      next += 1;
      const startedAt = performance.now();
      const answer = await pool.request({
        method: 'POST',
        path: path(index),
        headers: { 'content-type': 'application/json', ...headersOf(index) },
        body: text,
      });
      const got = await answer.body.text();
      times.push(performance.now() - startedAt);
      if (answer.statusCode !== 200 || !complete(got))
        throw new Error(`${origin}${path(index)}: ${answer.statusCode} ${got.slice(0, 500)}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, client));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  times.sort((left, right) => left - right);
  return { perSecond: calls / seconds, times };
}

export const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** Opens `count` streams that stay open after their first token. @returns a function that waits for their ends */
export async function openStreams({ origin, path, headersOf, body, count }) {
  const pool = new Pool(origin, { connections: count, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const text = JSON.stringify(body);
  const bodies = [];
  for (let at = 0; at < count; at += 50) {
    const batch = Array.from({ length: Math.min(50, count - at) }, async (_, offset) => {
      const index = at + offset;
      const answer = await pool.request({
        method: 'POST',
        path: path(index),
        headers: { 'content-type': 'application/json', ...headersOf(index) },
        body: text,
      });
      if (answer.statusCode !== 200) throw new Error(`${origin}: ${answer.statusCode} ${await answer.body.text()}`);
      return answer.body;
    });
    bodies.push(...(await Promise.all(batch)));
  }
  return async () => {
    await Promise.all(bodies.map((each) => each.dump()));
    await pool.destroy();
  };
}
