import { UpstreamError } from './upstream-error.ts';

/** A template may refuse messages, for instance roles in an order that the model has never seen. */
export function rendered<T>(render: () => T): T {
  try {
    return render();
  } catch (cause) {
    const { code, category, message } = cause as Partial<Record<'code' | 'category' | 'message', unknown>>;
    if (category !== 'user' || typeof code !== 'string') throw cause;
    throw new UpstreamError({ code, category: 'agent', status: 400, message: String(message), cause });
  }
}

/** A client may send any ids; one that the model does not have would read beyond its embedding. */
export function assertKnown(ids: Int32Array, vocabularySize: number | null): void {
  const index = vocabularySize === null ? -1 : ids.findIndex((id) => id < 0 || id >= vocabularySize);
  if (vocabularySize === null || index < 0) return;
  throw new UpstreamError({
    code: 'unknown_token_id',
    category: 'agent',
    status: 400,
    message: `"prompt[${index}]" is ${ids[index]}, and this model's token ids end at ${vocabularySize - 1}.`,
  });
}

/** What was sent is what was read. */
export function sameIds(sent: Int32Array, read: number[]): boolean {
  return sent.length === read.length && read.every((id, index) => id === sent[index]);
}

export function promptChanged(name: string): UpstreamError {
  return new UpstreamError({
    code: 'prompt_changed',
    status: 502,
    message: `The model service "${name}" did not answer the prompt that it was sent: it read other token ids.`,
    hint: 'Serve the model without truncation and without a proxy that rewrites prompts.',
  });
}
