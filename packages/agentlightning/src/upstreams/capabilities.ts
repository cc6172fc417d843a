/** What a model server was found to be able to do when it was asked at the start. */
export interface Capabilities {
  /** Kind and version: `vllm 0.32.0`. */
  server: string;
  /** How it is asked: with ids that we rendered, or with messages that it renders. */
  way: 'tokens' | 'chat';
  /** Prompts may be token ids. */
  tokenInput: boolean;
  /** It tells the ids it has read and sampled. */
  tokenIds: boolean;
  logProbs: boolean;
  /** Adapters can be loaded while it runs. */
  adapters: boolean;
  /** Tokens of prompt and answer together; null where it does not tell. */
  contextTokens: number | null;
  /** Whose tokenizer and template render prompts. */
  renderedBy: 'folder' | 'server';
  /** Why its calls cannot be trained on; null: they can. */
  untrainable: string | null;
}

/** One line for a person: what can be trained, and why not. */
export function capabilityStatement(alias: string, found: Capabilities): string {
  const way =
    found.way === 'tokens'
      ? `prompts go as token ids (rendered with the ${found.renderedBy === 'folder' ? "folder's" : "server's"} own template)`
      : 'the server renders the messages';
  const context = found.contextTokens === null ? '' : `, context ${found.contextTokens} tokens`;
  if (found.untrainable !== null)
    return `${alias}: ${found.server}, ${way}${context}; its calls cannot be trained on: ${found.untrainable}.`;
  const adapters = found.adapters ? '' : '; adapters cannot be loaded while it runs';
  return `${alias}: ${found.server}, ${way}${context}; its calls can be trained on${adapters}.`;
}
