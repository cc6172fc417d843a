import { chat } from './dialects/chat.ts';
import { completions } from './dialects/completions.ts';
import type { Dialect } from './dialects/dialect.ts';
import { gemini } from './dialects/gemini.ts';
import { messages } from './dialects/messages.ts';
import { responses } from './dialects/responses.ts';

/** Every wire protocol the gateway speaks: a new one is one file and one line here. */
export const dialects: readonly Dialect[] = [chat, responses, messages, completions, gemini];
