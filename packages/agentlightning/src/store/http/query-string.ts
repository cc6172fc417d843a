/**
 * Arguments of reading verbs as a query. A text stands as it is unless it could be read as JSON; all else is JSON:
 * `?runId=run-1&states=["failed"]&late=true`.
 */
export function toQuery(request: object): string {
  const pairs = Object.entries(request).filter(([, value]) => value !== undefined);
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(written(value))}`).join('&');
}

function written(value: unknown): string {
  const plain = typeof value === 'string' && value.isWellFormed() && asJson(value) === undefined;
  return plain ? value : JSON.stringify(value);
}

/** What {@link toQuery} wrote. `accepts`: whether the field takes the value; a person may leave the quotes of "123" away. */
export function fromQuery(
  query: { [name: string]: unknown },
  accepts: (name: string, value: unknown) => boolean,
): { [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const value = typeof text === 'string' ? asJson(text) : undefined;
      return [name, value !== undefined && accepts(name, value) ? value : text];
    }),
  );
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
