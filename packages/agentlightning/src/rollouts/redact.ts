/** Shorter values are words of everyday text. */
const shortestSecret = 8;
const secretName = /key|token|secret|password|credential/i;

/** The values of an environment that are secrets by their names. */
export function secretsOf(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => (secretName.test(name) ? [value] : []));
}

/** @returns a function that takes secrets out of what an agent printed, before anybody keeps or quotes it */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret);
  // Longest first: one may be the beginning of another.
  known.sort((left, right) => right.length - left.length);
  return (text) => known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}
