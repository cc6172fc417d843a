import type { Call, JsonObject } from '../store/types.ts';
import type { ChatMessage, ToolDefinition } from './chat.ts';
import { type Answer, finishReason } from './families/family.ts';
import { anthropicMessage, anthropicMessages } from './forms/anthropic.ts';
import { chatMessage, chatTools } from './forms/chat.ts';
import { geminiMessage, geminiMessages } from './forms/gemini.ts';
import { responsesMessages } from './forms/responses.ts';
import { listOf, objectOf, objectsOf } from './json.ts';

export interface CallContent {
  prompt: ChatMessage[];
  tools: ToolDefinition[];
  /** One for each choice, in order. */
  answers: Answer[];
}

type Reader = (
  request: JsonObject,
  response: JsonObject,
) => Pick<CallContent, 'prompt' | 'tools'> & { answers: ChatMessage[] };

const readers = new Map<string, Reader>([
  ['chat', readChat],
  ['completions', readCompletions],
  ['responses', readResponses],
  ['messages', readMessages],
  ['gemini', readGemini],
]);

/** A recorded call as chat messages, whatever protocol it came in. Finish reasons are the record's own. */
export function callContent({ dialect, request, response, choices }: Call): CallContent {
  const { prompt, tools, answers } = (readers.get(dialect) ?? readChat)(request, response ?? {});
  return {
    prompt,
    tools,
    answers: answers.map((message, index) => ({ message, finishReason: finishReason(choices[index]?.finishReason) })),
  };
}

function readChat(request: JsonObject, response: JsonObject): ReturnType<Reader> {
  return {
    prompt: objectsOf(request.messages).map((message) => chatMessage(message)),
    tools: chatTools(request.tools),
    answers: objectsOf(response.choices).map(({ message }) => asAssistant(chatMessage(objectOf(message) ?? {}))),
  };
}

function readCompletions(request: JsonObject, response: JsonObject): ReturnType<Reader> {
  const text = typeof request.prompt === 'string' ? [{ role: 'user', content: request.prompt }] : [];
  const answers = objectsOf(response.choices).map((choice) =>
    chatMessage({ content: choice.text ?? null }, 'assistant'),
  );
  return { prompt: text, tools: [], answers };
}

function readResponses(request: JsonObject, response: JsonObject): ReturnType<Reader> {
  const { instructions } = request;
  const system = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  return {
    prompt: [...system, ...responsesMessages(request.input)],
    tools: chatTools(request.tools),
    answers: responsesMessages(response.output),
  };
}

function readMessages(request: JsonObject, response: JsonObject): ReturnType<Reader> {
  return {
    prompt: anthropicMessages(request.system, request.messages),
    tools: chatTools(request.tools),
    answers: response.content === undefined ? [] : anthropicMessage({ role: 'assistant', content: response.content }),
  };
}

function readGemini(request: JsonObject, response: JsonObject): ReturnType<Reader> {
  const tools = objectsOf(request.tools).flatMap((tool) =>
    listOf(tool.functionDeclarations ?? tool.function_declarations),
  );
  return {
    prompt: geminiMessages(request.systemInstruction ?? request.system_instruction, request.contents),
    tools: chatTools(tools),
    answers: objectsOf(response.candidates).flatMap(({ content }) =>
      geminiMessage(objectOf(content) ?? {}).map(asAssistant),
    ),
  };
}

function asAssistant(message: ChatMessage): ChatMessage {
  return { ...message, role: 'assistant' };
}
