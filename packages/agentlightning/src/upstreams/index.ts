/**
 * Where a call is answered: one file for each kind of model server. An upstream takes a `Turn` and tells `TurnEvent`s
 * while it answers. It knows nothing of HTTP dialects, tokens of attempts, or how calls are recorded.
 */

export { createCannedUpstream } from './canned.ts';
export { capabilityStatement } from './capabilities.ts';
export { createEmbeddedUpstream } from './embedded.ts';
export { upstreamKinds } from './kinds.ts';
export { loadModelText, type ModelText, modelText } from './model-text.ts';
export { createOpenAiUpstream } from './openai.ts';
export type { RemoteUpstreamOptions } from './remote.ts';
export { mixSeed } from './seeds.ts';
export { toolCallFormats } from './tool-calls/formats.ts';
export {
  type Message,
  noTokenLimit,
  type RawPrompt,
  type ToolCall,
  type ToolDefinition,
  type Turn,
  type TurnEvent,
  type Upstream,
} from './upstream.ts';
export { UpstreamError } from './upstream-error.ts';
