import { randomBytes } from 'node:crypto';
import { leaseOf } from '../../store/testing/index.ts';
import type { Claim } from '../../store/types.ts';

/** What the server has said yes to, by what it is: ids of rollouts, attempts, calls, spans, and names of rewards. */
export class Acknowledged {
  readonly rollouts = new Set<string>();
  readonly ended = new Set<string>();
  readonly calls = new Set<string>();
  readonly spans = new Set<string>();
  readonly rewards = new Set<string>();

  get count(): number {
    const { rollouts, ended, calls, spans, rewards } = this;
    return rollouts.size + ended.size + calls.size + spans.size + rewards.size;
  }
}

/** Does the work of an agent, its tracer, its grader and its controller against one server, for as long as that answers. */
export async function work(
  { url, key }: { url: string; key: string },
  { name, done, onDone }: { name: string; done: Acknowledged; onDone: () => void },
): Promise<void> {
  const post = async <T>(path: string, body: unknown, token = key): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const verb = <T>(verbName: string, body: unknown): Promise<T> => post<T>(`/agl/v1/store/${verbName}`, body);
  const acknowledge = (set: Set<string>, id: string): void => {
    set.add(id);
    onDone();
  };

  for (let round = 0; ; round += 1) {
    const id = `${name}-${round}`;
    const rest = { runId: 'run-1', taskId: 'task-1', groupId: id, mode: 'train', step: 0, seed: 1, maxAttempts: 1 };
    await verb('enqueueRollouts', { requests: [{ id, ...rest }] });
    acknowledge(done.rollouts, id);
    const [claim] = await verb<Claim[]>('claimRollouts', { workerId: name, limit: 1, leaseMs: 600_000 });
    if (!claim) continue;
    const { attempt } = claim;
    const { token } = await post<{ token: string }>('/agl/v1/sessions/open', { lease: leaseOf(attempt) });
    for (const content of ['first', 'second']) {
      const chat = { model: 'policy', messages: [{ role: 'user', content }] };
      acknowledge(done.calls, (await post<{ id: string }>('/v1/chat/completions', chat, token)).id);
      const span = newSpan(`span-${content}-${attempt.id}`);
      await post('/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }, token);
      acknowledge(done.spans, span.spanId);
      acknowledge(done.rewards, span.reward);
    }
    const reward = { attemptId: attempt.id, name: `grade-${attempt.id}`, value: 1, source: 'grader' };
    await verb('addReward', { ...reward, agentName: null, callId: null });
    acknowledge(done.rewards, reward.name);
    await verb('finishAttempt', { lease: leaseOf(attempt), outcome: { state: 'succeeded' } });
    acknowledge(done.ended, attempt.id);
  }
}

/** With a reward of its own name in it. */
function newSpan(reward: string) {
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name: 'work',
    reward,
    startTimeUnixNano: '1700000000000250000',
    endTimeUnixNano: '1700000000000350000',
    attributes: [
      { key: 'agentlightning.reward.0.name', value: { stringValue: reward } },
      { key: 'agentlightning.reward.0.value', value: { doubleValue: 0.5 } },
    ],
  };
}
