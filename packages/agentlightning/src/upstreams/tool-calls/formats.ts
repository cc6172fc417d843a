import { hermes } from './hermes.ts';
import { llama3 } from './llama3.ts';
import { mistral } from './mistral.ts';
import type { ToolCallFormat } from './parser.ts';
import { qwenCoder } from './qwen-coder.ts';

/** Every form of tool calls: a new one is one file and one line here. Of those that a template shows, the first is taken. */
export const toolCallFormats = [qwenCoder, mistral, hermes, llama3] as const satisfies readonly ToolCallFormat[];
