// What a runner asks of a store over HTTP, of ours and of the Python project's 0.3: the same steps in the words of each.
import { Agent, request } from 'undici';
import { spansBody } from './spans.mjs';

const dispatcher = new Agent({ connections: 128, pipelining: 1 });

export async function send(url, { json, body, headers = {} }) {
  const answer = await request(url, {
    ...{ method: 'POST', dispatcher },
    headers: { 'content-type': json === undefined ? 'application/x-protobuf' : 'application/json', ...headers },
    body: json === undefined ? body : JSON.stringify(json),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${url} answered ${answer.statusCode}: ${text.slice(0, 300)}`);
  return json === undefined ? null : JSON.parse(text);
}

/** Ours, with everything on disk when it is acknowledged. */
export function ourSide({ url, key }) {
  const verb = (name, json) =>
    send(`${url}/agl/v1/store/${name}`, { json, headers: { authorization: `Bearer ${key}` } });
  let made = 0;
  return {
    name: 'agl',
    async enqueue(count) {
      const requests = Array.from({ length: count }, () => {
        made += 1;
        return {
          ...{ id: `rollout-${made}`, runId: 'run-1', taskId: 'task-1', groupId: 'group-1', mode: 'train' },
          ...{ step: 0, seed: 1, maxAttempts: 1 },
        };
      });
      await verb('enqueueRollouts', { requests });
    },
    async claim(workerId) {
      const [claim] = await verb('claimRollouts', { workerId, limit: 1, leaseMs: 600_000 });
      if (!claim) return null;
      const lease = { attemptId: claim.attempt.id, workerId };
      const headers = { authorization: `Bearer ${key}` };
      const { token } = await send(`${url}/agl/v1/sessions/open`, { json: { lease }, headers });
      return { lease, token, rolloutId: claim.rollout.id, attemptId: claim.attempt.id };
    },
    report: (claim, body) => send(`${url}/v1/traces`, { body, headers: { authorization: `Bearer ${claim.token}` } }),
    body: (claim, options) => spansBody(claim, options),
    finish: ({ lease }) => verb('finishAttempt', { lease, outcome: { state: 'succeeded' } }),
  };
}

/** The Python project's 0.3, in memory. */
export function pythonSide({ url }) {
  const api = `${url}/v1/agl`;
  return {
    name: 'agentlightning',
    enqueue: (count) =>
      send(`${api}/queues/rollouts/enqueue`, {
        json: { rollouts: Array.from({ length: count }, () => ({ input: { question: '6 * 7' }, mode: 'train' })) },
      }),
    async claim(workerId) {
      const [claim] = await send(`${api}/queues/rollouts/dequeue`, { json: { limit: 1, worker_id: workerId } });
      return claim ? { rolloutId: claim.rollout_id, attemptId: claim.attempt.attempt_id } : null;
    },
    report: (_claim, body) => send(`${url}/v1/traces`, { body }),
    body: (claim, options) => spansBody(claim, options),
    finish: ({ rolloutId, attemptId }) =>
      send(`${api}/rollouts/${rolloutId}/attempts/${attemptId}`, { json: { status: 'succeeded' } }),
  };
}
