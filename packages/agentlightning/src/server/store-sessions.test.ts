import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeKey, type Scope } from '../gateway/index.ts';
import { openRemoteSessions, type RemoteSessions } from '../rollouts/remote-sessions.ts';
import { claimOne } from '../store/testing/fixtures.ts';
import { leaseOf } from '../store/testing/index.ts';
import type { Claim } from '../store/types.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

const adminKey = 'the-admin-key';
let gateway: StartedGateway;
let claim: Claim;
let sessions: RemoteSessions;
beforeEach(async () => {
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { api: true, adminKey },
  );
  claim = await claimOne(gateway.store);
  sessions = sessionsWith('controller');
});
afterEach(async () => {
  await sessions.end();
  await gateway.close();
});

const sessionsWith = (scope: Scope) =>
  openRemoteSessions({ url: gateway.server.url, key: makeKey(adminKey, { scope, expiresAt: Date.now() + 60_000 }) });

function attemptOf(change: { workerId?: string } = {}) {
  const { attempt, rollout } = claim;
  const { id: attemptId, number: attemptNumber, workerId } = attempt;
  const { id: rolloutId, mode, seed } = rollout;
  return { attemptId, attemptNumber, workerId, rolloutId, mode, seed, ...change };
}

async function chat(token: string): Promise<number> {
  const response = await fetch(`${gateway.server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  return response.status;
}

describe('a session for a controller elsewhere', () => {
  it('opens the models for its attempt, and is recorded there; asked for again, the first token dies', async () => {
    const first = await sessions.open(attemptOf());
    expect(await chat(first)).toBe(200);
    const second = await sessions.open(attemptOf());
    expect([await chat(first), await chat(second)]).toEqual([401, 200]);
    expect(await gateway.store.listCalls(claim.attempt.id)).toHaveLength(2);
    await sessions.close(claim.attempt.id);
    expect(await chat(second)).toBe(401);
  });

  it('takes the sampling that the controller forces', async () => {
    const token = await sessions.open({
      ...attemptOf(),
      sampling: { temperature: 0.25, topP: 1, topK: 0, maxTokens: 3 },
      budget: { calls: 1 },
    });
    expect(await chat(token)).toBe(200);
    expect(await chat(token)).not.toBe(200);
    const [call] = await gateway.store.listCalls(claim.attempt.id);
    expect(call!.sampling).toMatchObject({ temperature: 0.25, maxTokens: 3 });
  });

  it('ends with its attempt, whoever ends it, without a word of the controller', async () => {
    const token = await sessions.open(attemptOf());
    await gateway.store.finishAttempt(leaseOf(claim.attempt), { state: 'succeeded' });
    while ((await chat(token)) === 200) await new Promise((resolve) => setImmediate(resolve));
    expect(await chat(token)).toBe(401);
  });

  it('is given to the worker that holds the attempt while it runs, and to nobody else', async () => {
    const refused = { code: 'not_lease_holder', status: 409, field: 'lease' };
    await expect(sessions.open(attemptOf({ workerId: 'thief' }))).rejects.toMatchObject(refused);
    await gateway.store.finishAttempt(leaseOf(claim.attempt), { state: 'succeeded' });
    await expect(sessions.open(attemptOf())).rejects.toMatchObject(refused);
    const grader = sessionsWith('grader');
    await expect(grader.open(attemptOf())).rejects.toMatchObject({ code: 'scope_too_narrow' });
    await grader.end();
  });

  it('is not given to an agent, for another attempt or its own', async () => {
    const agent = openRemoteSessions({ url: gateway.server.url, key: await sessions.open(attemptOf()) });
    await expect(agent.open(attemptOf())).rejects.toMatchObject({ code: 'attempt_key' });
    await expect(agent.close(claim.attempt.id)).rejects.toMatchObject({ code: 'attempt_key' });
    await agent.end();
  });
});
