/**
 * Receives OpenTelemetry traces and logs (OTLP over HTTP) and the events of the Python project's 1.0, finds the rewards in them, and
 * reads them: what an attempt asked of models and tools, joined with the recorded calls. It knows the store, and nothing of HTTP
 * servers, sessions or who learns from what it keeps.
 */
export { begins, type Conversation, toConversations } from './adapters/conversations.ts';
export type { MatchedReward } from './adapters/reward-matches.ts';
export { toTrajectories } from './adapters/trajectories.ts';
export { type TrajectoryCall, toCalls } from './adapters/trajectory-calls.ts';
export { type AttemptTrace, type ToolOutcome, type Triplet, toTriplets } from './adapters/triplets.ts';
export type { Signal } from './batch.ts';
export { callContent } from './call-content.ts';
export type { ChatMessage, ToolCall, ToolDefinition } from './chat.ts';
export { receiveEvent } from './event.ts';
export { type JoinedCalls, joinCalls, type SeenCall } from './join-calls.ts';
export { listNamedCalls, nameCalls } from './name-calls.ts';
export { failureBody, receiveOtlp } from './receive.ts';
export { type ToolRun, toolRuns } from './tool-runs.ts';
export { TracingError } from './tracing-error.ts';
