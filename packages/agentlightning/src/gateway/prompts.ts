import { markedPrompt, type PromptTemplate, type Replacement, readPrompt, renderPrompt } from '../prompts/index.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject, Resource, ResourceVersions } from '../store/types.ts';
import type { Turn } from '../upstreams/index.ts';
import { RequestError } from './request-error.ts';
import type { Session } from './session.ts';

export interface PromptsOptions {
  store: Pick<Store, 'getAttempt' | 'getResource' | 'latestResources'>;
  /** For agents that cannot be changed: which of their system prompts are replaced. Default: none. */
  replacements?: readonly Replacement[];
}

export interface ServedPrompt extends PromptTemplate {
  name: string;
  version: number;
}

/** Versions never change, so as many are kept. */
const rememberedVersions = 1000;

/**
 * The prompts of a store, as agents get them: an attempt the versions that were fixed when it was claimed, whatever has
 * been added since; everybody else the latest ones.
 */
export class Prompts {
  readonly #store: PromptsOptions['store'];
  readonly #replacements: readonly Replacement[];
  readonly #fixed = new WeakMap<Session, Promise<ResourceVersions>>();
  readonly #known = new Map<string, Promise<Resource | null>>();

  constructor({ store, replacements = [] }: PromptsOptions) {
    this.#store = store;
    this.#replacements = replacements;
  }

  /** By name. */
  async list(session: Session): Promise<ServedPrompt[]> {
    const resources = await this.#resources(session);
    return resources.filter(({ kind }) => kind === 'prompt').map(served);
  }

  /** @throws {RequestError} `prompt_not_found` */
  async get(session: Session, name: string): Promise<ServedPrompt> {
    const prompts = await this.list(session);
    const found = prompts.find((prompt) => prompt.name === name);
    if (found !== undefined) return found;
    const names = prompts.map((prompt) => prompt.name).join(', ');
    throw new RequestError({
      code: 'prompt_not_found',
      status: 404,
      field: 'name',
      message: `No prompt is called "${name}" here. ${names === '' ? 'There are none.' : `Prompts: ${names}.`}`,
      hint: 'Name it under "prompts" in the configuration.',
    });
  }

  /**
   * Puts prompts in place of marked system prompts. `overridden` has what the client had sent, as `prompt.NAME`.
   * @throws {PromptError} when the rule does not fill the prompt's places
   */
  async replaceMarked(session: Session, turn: Turn): Promise<{ turn: Turn; overridden: JsonObject }> {
    const overridden: JsonObject = {};
    if (this.#replacements.length === 0) return { turn, overridden };
    const messages = await Promise.all(
      turn.messages.map(async (message) => {
        if (message.role !== 'system' && message.role !== 'developer') return message;
        const marked = markedPrompt(message.content, this.#replacements);
        if (marked === null) return message;
        const prompt = await this.get(session, marked.prompt);
        // A pattern may have groups that this version of the prompt has no place for.
        const values = Object.entries(marked.values).filter(([name]) => prompt.placeholders.includes(name));
        overridden[`prompt.${prompt.name}`] = message.content;
        return { ...message, content: renderPrompt(prompt, Object.fromEntries(values)) };
      }),
    );
    return { turn: { ...turn, messages }, overridden };
  }

  async #resources(session: Session): Promise<Resource[]> {
    if (session.mode === 'serve') return this.#store.latestResources();
    const versions = await this.#versions(session);
    const found = await Promise.all(Object.entries(versions).map(([name, version]) => this.#version(name, version)));
    return found.filter((resource) => resource !== null).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #versions(session: Session): Promise<ResourceVersions> {
    return remembered(
      this.#fixed,
      session,
      async () => (await this.#store.getAttempt(session.attemptId))?.resources ?? {},
    );
  }

  #version(name: string, version: number): Promise<Resource | null> {
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < rememberedVersions) break;
      this.#known.delete(oldest);
    }
    return remembered(this.#known, JSON.stringify([name, version]), () => this.#store.getResource(name, version));
  }
}

function served(resource: Resource): ServedPrompt {
  const { template, placeholders } = readPrompt(resource);
  return { name: resource.name, version: resource.version, template, placeholders };
}

/** What failed is asked for again. */
function remembered<Key, Value>(
  known: {
    get(key: Key): Promise<Value> | undefined;
    set(key: Key, value: Promise<Value>): unknown;
    delete(key: Key): unknown;
  },
  key: Key,
  read: () => Promise<Value>,
): Promise<Value> {
  const earlier = known.get(key);
  if (earlier !== undefined) return earlier;
  const reading = read();
  known.set(key, reading);
  reading.catch(() => known.delete(key));
  return reading;
}
