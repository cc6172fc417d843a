import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { EngineError } from '../errors.ts';
import { isJsonObject, type JsonObject, readOptionalJsonObject, readOptionalText } from '../files/index.ts';
import { type ChatMessage, templateMessages } from './chat-messages.ts';

export interface RenderRequest {
  messages: readonly ChatMessage[];
  /** In OpenAI's form, `{ type: 'function', function: { name, description, parameters } }`. */
  tools?: readonly JsonObject[];
  /** End with the beginning of an assistant message. Default false. */
  addGenerationPrompt?: boolean;
  /** More variables of the template, for instance `enable_thinking`. */
  variables?: JsonObject;
}

/** How a model was taught to see a conversation: a Jinja template that makes one text of messages and tools. */
export class ChatTemplate {
  readonly #template: Template;
  /** For messages of errors. */
  readonly #path: string;
  /** `bos_token`, `eos_token` and the like. */
  readonly #tokens: JsonObject;

  /** @throws {EngineError} `chat_template_invalid` */
  constructor(source: string, tokens: JsonObject = {}, path = 'chat template') {
    this.#tokens = tokens;
    this.#path = path;
    try {
      this.#template = new Template(source);
    } catch (cause) {
      throw templateError('chat_template_invalid', `${path} is not a template that can be read`, cause);
    }
  }

  /**
   * Loads `chat_template.jinja`, else `chat_template` of `tokenizer_config.json` (of several named ones, "default").
   *
   * @throws {EngineError} `chat_template_missing`, `chat_template_invalid`, `json_invalid`
   */
  static async load(folder: string): Promise<ChatTemplate> {
    const configPath = join(folder, 'tokenizer_config.json');
    const config = (await readOptionalJsonObject(configPath)) ?? {};
    const path = join(folder, 'chat_template.jinja');
    const own = await readOptionalText(path);
    if (own !== undefined) return new ChatTemplate(own, specialTokens(config), path);
    const source = namedDefault(config.chat_template);
    if (typeof source === 'string')
      return new ChatTemplate(source, specialTokens(config), `${configPath}: chat_template`);
    throw new EngineError({
      code: 'chat_template_missing',
      message: `${folder} has no chat template: neither chat_template.jinja nor "chat_template" in tokenizer_config.json.`,
      hint: 'Use an instruct version of the model, or add the template it was trained with as chat_template.jinja.',
      category: 'user',
    });
  }

  /** @throws {EngineError} `chat_template_failed` when the template refuses or cannot handle the messages, `content_unsupported` */
  render({ messages, tools = [], addGenerationPrompt = false, variables = {} }: RenderRequest): string {
    const given = templateMessages(messages);
    try {
      return this.#template.render({
        ...this.#tokens,
        ...variables,
        messages: given,
        tools: tools.length > 0 ? tools : null, // templates test `if tools`, some of them `is not none`
        add_generation_prompt: addGenerationPrompt,
      });
    } catch (cause) {
      throw templateError('chat_template_failed', `${this.#path} cannot render these messages`, cause);
    }
  }
}

function namedDefault(template: unknown): unknown {
  if (!Array.isArray(template)) return template;
  const named = template.filter(isJsonObject);
  return (named.find(({ name }) => name === 'default') ?? named[0])?.template;
}

/** A token is a text, or in older files an object with its text. */
function specialTokens(config: JsonObject): JsonObject {
  const tokens = Object.entries(config).filter(([key]) => key.endsWith('_token'));
  const texts = tokens.map(([key, value]) => [key, isJsonObject(value) ? value.content : value] as const);
  return Object.fromEntries(texts.filter(([, text]) => typeof text === 'string'));
}

function templateError(code: string, problem: string, cause: unknown): EngineError {
  return new EngineError({
    code,
    message: `${problem}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Compare the roles and their order with what the template allows, or correct the template.',
    category: 'user',
    cause,
  });
}
