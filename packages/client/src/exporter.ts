import { type Attempt, currentAttempt } from './attempt.ts';
import { type PreparedRequest, sendOnExit } from './exit.ts';
import { platform, warnOnce } from './platform.ts';
import { keyValues, type OtlpSpan } from './span.ts';

/** What was emitted together goes together. */
const batchDelayMs = 50;
const maxBatchSpans = 500;
const retryDelaysMs = [100, 400, 1600];
const requestTimeoutMs = 10_000;
/** Beyond this an endpoint that does not answer must not fill the agent's memory. */
const maxPendingSpans = 10_000;

interface Queued {
  attempt: Attempt;
  span: OtlpSpan;
  scope: string;
}

let pending: Queued[] = [];
let sending: Promise<void> = Promise.resolve();
let timer: ReturnType<typeof setTimeout> | null = null;
/** Sent and not answered yet: what is lost when the process exits now. */
const unanswered = new Set<PreparedRequest>();
let watchesExit = false;

/** Spans of this attempt leave in the background; outside of a run they go nowhere, with one warning. */
export function exportSpan(span: OtlpSpan, scope = 'agentlightning'): boolean {
  const attempt = currentAttempt();
  if (attempt === null) {
    warnOnce('Outside of a run (AGL_ENDPOINT, AGL_ATTEMPT_ID and a key are not set) nothing is reported.');
    return false;
  }
  if (pending.length >= maxPendingSpans) {
    warnOnce(`More than ${maxPendingSpans} spans wait for ${attempt.endpoint}; further ones are dropped.`);
    return false;
  }
  watchExit();
  pending.push({ attempt, span, scope });
  // Not unref'd: the process stays until its spans have left.
  timer ??= setTimeout(() => void flush(), batchDelayMs);
  return true;
}

/** Resolves when everything emitted so far has been acknowledged, or given up with a warning. Never rejects. */
export function flush(): Promise<void> {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  const batch = pending;
  pending = [];
  if (batch.length > 0) {
    const requests = prepare(batch);
    for (const request of requests) unanswered.add(request);
    sending = sending.then(async () => {
      for (const request of requests) {
        await send(request);
        unanswered.delete(request);
      }
    });
  }
  return sending;
}

/** One request for each attempt, in pieces. */
function prepare(batch: Queued[]): PreparedRequest[] {
  return [...groupByToken(batch).values()].flatMap((group) => {
    const requests: PreparedRequest[] = [];
    for (let at = 0; at < group.length; at += maxBatchSpans) {
      requests.push(toRequest(group.slice(at, at + maxBatchSpans)));
    }
    return requests;
  });
}

function groupByToken(batch: Queued[]): Map<string, Queued[]> {
  const groups = new Map<string, Queued[]>();
  for (const queued of batch) {
    const group = groups.get(queued.attempt.token);
    if (group === undefined) groups.set(queued.attempt.token, [queued]);
    else group.push(queued);
  }
  return groups;
}

function toRequest(group: Queued[]): PreparedRequest {
  const { attempt } = group[0]!;
  const { endpoint, token, attemptId, rolloutId } = attempt;
  const attributes = keyValues({ 'agl.rollout_id': rolloutId, 'agl.attempt_id': attemptId });
  const scopes = [...new Set(group.map(({ scope }) => scope))];
  const scopeSpans = scopes.map((name) => ({
    scope: { name },
    spans: group.filter(({ scope }) => scope === name).map(({ span }) => span),
  }));
  const body = JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans }] });
  return { url: `${endpoint}/v1/traces`, token, body };
}

async function send({ url, token, body }: PreparedRequest): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  for (const delayMs of [...retryDelaysMs, null]) {
    try {
      const signal = AbortSignal.timeout(requestTimeoutMs);
      const answer = await fetch(url, { method: 'POST', headers, body, signal });
      const text = await answer.text();
      const again = answer.status === 429 || answer.status >= 500;
      if (!again) {
        warnOfRefusal(answer, text);
        return;
      }
      if (delayMs === null) warnOnce(`${url} answers ${answer.status}; spans are lost. ${text.slice(0, 500)}`);
    } catch (error) {
      if (delayMs === null) warnOnce(`${url} cannot be reached; spans are lost. ${String(error)}`);
    }
    if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

function warnOfRefusal(answer: Response, text: string): void {
  if (!answer.ok) warnOnce(`${answer.url} refuses the spans (${answer.status}): ${text.slice(0, 500)}`);
  else if (text.includes('"partialSuccess"')) warnOnce(`Not all that was reported was kept: ${text.slice(0, 500)}`);
}

function watchExit(): void {
  if (watchesExit) return;
  watchesExit = true;
  // Whoever runs one attempt after another in this process waits for this before it ends the attempt.
  (globalThis as Record<symbol, unknown>)[Symbol.for('agentlightning.flush')] = flush;
  platform().once?.('exit', () => {
    const rest = [...unanswered, ...prepare(pending)];
    if (rest.length > 0) sendOnExit(rest);
  });
}
