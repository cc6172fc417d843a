/**
 * Runs agents: takes rollouts from the store, executes and judges attempts, and tells whose doing a failure was.
 * Must not know what the rollouts are for: no algorithm, sample, engine or gateway; it gets sessions and a base URL.
 */
export { checkAgent, checkGrader } from './checks.ts';
export { type Controller, createController } from './controller.ts';
export { createRewardSource, graderRequirements } from './graders/graders.ts';
export { runPreflight } from './preflight.ts';
export { openRemoteSessions } from './remote-sessions.ts';
export type { AgentFunction, FunctionContext } from './runners/runner.ts';
export { createRunner } from './runners/runners.ts';
export { workspacesOf } from './workspaces.ts';
