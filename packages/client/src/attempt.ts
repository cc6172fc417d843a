import { platform } from './platform.ts';

/** Where the spans of the present attempt go. */
export interface Attempt {
  /** Of the gateway, without a slash at its end. */
  endpoint: string;
  token: string;
  attemptId: string;
  rolloutId: string;
}

/**
 * The attempt that runs now, from the variables that its controller set. Read anew each time: a warm process works on one attempt after
 * another.
 *
 * @returns null outside of a run
 */
export function currentAttempt(): Attempt | null {
  try {
    const { env } = platform();
    const token = env?.AGL_KEY ?? env?.OPENAI_API_KEY;
    const endpoint = env?.AGL_ENDPOINT;
    const attemptId = env?.AGL_ATTEMPT_ID;
    const rolloutId = env?.AGL_ROLLOUT_ID;
    if (!endpoint || !token || !attemptId || !rolloutId) return null;
    return { endpoint: endpoint.replace(/\/+$/, ''), token, attemptId, rolloutId };
  } catch {
    return null; // Deno without --allow-env
  }
}
