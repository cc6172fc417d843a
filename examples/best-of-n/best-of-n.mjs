import { commonOptions, defineAlgorithm } from 'agentlightning';
import { z } from 'zod';

/** What one rollout is worth: the last reward of its last attempt, or null when nobody graded it. */
const rewardOf = ({ attempts }) => attempts.at(-1)?.rewards.at(-1)?.value ?? null;

/** Of each task the rollout with the best reward, if it is good enough. */
function bestOfEachTask(episodes, minReward) {
  const best = new Map();
  for (const episode of episodes) {
    const reward = rewardOf(episode);
    if (reward === null || reward < minReward) continue;
    const { taskId } = episode.rollout;
    if (reward > (best.get(taskId)?.reward ?? Number.NEGATIVE_INFINITY)) best.set(taskId, { episode, reward });
  }
  return [...best.values()].map(({ episode }) => episode);
}

/** A call as a training row: every token that the model read, and weight on those that it wrote. */
function rowOf({ promptIds, choices: [{ tokenIds }] }) {
  const all = Int32Array.from([...promptIds, ...tokenIds]);
  return { tokenIds: all, weights: new Float32Array(all.length).fill(1, promptIds.length) };
}

/** Teaches the policy to answer at once as well as its best of n answers. */
export const algorithm = defineAlgorithm({
  name: 'best-of-n',
  summary: 'distils the best of n answers into the policy',
  options: commonOptions.extend({
    n: z.int().min(2).default(8),
    tasksPerStep: z.int().min(1).default(16),
    minReward: z.number().default(1),
    learningRate: z.number().default(3e-4),
  }),

  setup: (_context, saved) => ({ learned: Number(saved?.learned ?? 0) }),

  async step(context, state, step) {
    const { engine, options, tasks } = context;
    const first = ((step - 1) * options.tasksPerStep) % tasks.length;
    const chosen = tasks.slice(first, first + options.tasksPerStep);
    const episodes = await context.run(context.requests({ step, tasks: chosen, count: options.n }));

    const best = bestOfEachTask(episodes, options.minReward);
    const calls = best.flatMap(({ attempts }) => attempts.at(-1).calls).filter(({ untrainable }) => !untrainable);
    if (calls.length > 0) {
      await engine.forwardBackward(calls.map(rowOf), { name: 'cross_entropy' });
      await engine.optimStep({ learningRate: options.learningRate, maxGradNorm: 1 });
      await context.publish(step);
    }
    state.learned += calls.length;
    const message = `Best of ${options.n}: ${best.length} of ${chosen.length} tasks solved, ${state.learned} calls learned so far.`;
    context.metrics({ kind: 'notice', step, level: 'info', code: 'distilled', message });
    return {};
  },

  save: ({ learned }) => ({ learned }),
});
