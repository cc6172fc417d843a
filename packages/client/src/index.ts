/**
 * What an agent reports about itself: rewards, messages, objects, annotations, exceptions, operations; and the prompts it runs with.
 * Works in Node, Bun and Deno without any dependency. Reporting does nothing outside of a run and never throws into the agent.
 * It must not import from Node: everything of the platform is asked for when it is first used.
 */
export { type AgentsProcessor, createAgentsProcessor } from './agents-processor.ts';
export {
  type EmitOptions,
  emitAnnotation,
  emitException,
  emitMessage,
  emitObject,
  emitReward,
  flush,
  type RewardOptions,
} from './emit.ts';
export { attachOpenTelemetry, createSpanProcessor } from './open-telemetry.ts';
export { operation } from './operation.ts';
export { type GetPromptOptions, getPrompt, type Prompt, PromptError } from './prompt.ts';
