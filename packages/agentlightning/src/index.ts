/** Agent Lightning: the library. The command line is `agl`. */
export {
  type Algorithm,
  type AlgorithmContext,
  type CommonOptions,
  commonOptions,
  defineAlgorithm,
} from './algorithms/index.ts';
export { type Config, type ConfigInput, defineConfig } from './config/index.ts';
export { AgentLightningError, type AgentLightningErrorOptions, type ErrorCategory, UserError } from './errors.ts';
export type { AgentFunction, FunctionContext } from './rollouts/index.ts';
export { openHttpStore, openMemoryStore, openSqliteStore, openStore } from './store/index.ts';
export type { Store } from './store/store.ts';
export type { Call, Reward, Span } from './store/types.ts';
export {
  type AttemptTrace,
  type ChatMessage,
  type Conversation,
  type JoinedCalls,
  joinCalls,
  listNamedCalls,
  type MatchedReward,
  nameCalls,
  type SeenCall,
  type ToolCall,
  type ToolDefinition,
  type ToolOutcome,
  type ToolRun,
  type Triplet,
  toConversations,
  toolRuns,
  toTriplets,
} from './tracing/index.ts';
