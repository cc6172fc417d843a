import type { JsonObject } from '../../store/types.ts';
import { GraderError, type ModelAccess } from './grader.ts';

export interface JudgeQuestion {
  model: string;
  temperature: number;
  messages: JsonObject[];
  signal: AbortSignal;
}

/** A model that thinks first needs room for it. */
const maxTokens = 4096;

/**
 * The text of one answer of a model behind the gateway.
 * @throws {GraderError} when there is none
 */
export async function ask({ baseUrl, token }: ModelAccess, question: JudgeQuestion): Promise<string> {
  const { signal, ...asked } = question;
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ ...asked, max_tokens: maxTokens }),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new GraderError('grader_crash', `The judge could not be reached: ${String(cause)}`);
  });
  const body = (await response.json().catch(() => ({}))) as {
    choices?: { message?: { content?: string | null } }[];
    error?: JsonObject;
  };
  if (!response.ok) {
    const why = typeof body.error?.message === 'string' ? body.error.message : `status ${response.status}`;
    throw new GraderError('grader_crash', `The judge "${question.model}" did not answer: ${why}`);
  }
  return body.choices?.[0]?.message?.content ?? '';
}
