import { toolCallFormats } from './tool-calls/formats.ts';
import { hermes } from './tool-calls/hermes.ts';
import type { ToolCallFormat } from './tool-calls/parser.ts';

/** How a model writes calls and thinking. */
export interface AnswerFormats {
  toolCalls: ToolCallFormat;
  /** True: the answer may begin with `<think>…</think>`. */
  thinking: boolean;
}

export const defaultFormats: AnswerFormats = { toolCalls: hermes, thinking: false };

/** What a chat template shows of the model's forms. */
export function formatsOf(template: string): AnswerFormats {
  return {
    toolCalls: toolCallFormats.find((format) => format.writtenBy(template)) ?? hermes,
    thinking: template.includes('</think>'),
  };
}
