import { agentNames } from './families/agent-names.ts';
import { agentLightning } from './families/agentlightning.ts';
import { aiSdk } from './families/ai-sdk.ts';
import type { Family } from './families/family.ts';
import { genAi } from './families/gen-ai.ts';
import { genAiEvents } from './families/gen-ai-events.ts';
import { genAiMessageAttributes } from './families/gen-ai-messages.ts';
import { genAiPrompts } from './families/gen-ai-prompts.ts';
import { langchain } from './families/langchain.ts';
import { openAiAgents } from './families/openai-agents.ts';
import { openInference } from './families/openinference.ts';
import { openLlmetry } from './families/openllmetry.ts';

/**
 * Every family of spans that is understood. A span may speak several: each field comes from the first that has it, so that those
 * which know more stand before those which know less. A new one is a file and a line here.
 */
export const families: readonly Family[] = [
  aiSdk,
  openAiAgents,
  langchain,
  openInference,
  openLlmetry,
  agentLightning,
  genAi,
  genAiMessageAttributes,
  genAiEvents,
  genAiPrompts,
  agentNames,
];
