import { EventQueue } from './event-queue.ts';
import type { TurnEvent } from './upstream.ts';

/**
 * Events of a job that tells them by a callback. The job is aborted with the client, and when nobody reads on.
 *
 * @param failure what the reader gets for an error of the job; an abort's reason goes to the reader as it is
 */
export function pushed(
  signal: AbortSignal,
  job: (abort: AbortController, emit: (event: TurnEvent) => void) => Promise<void>,
  failure: (error: unknown) => unknown = (error) => error,
): AsyncIterable<TurnEvent> {
  const abort = new AbortController();
  const follow = () => abort.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  const queue = new EventQueue<TurnEvent>((early) => {
    signal.removeEventListener('abort', follow);
    if (early) abort.abort();
  });
  job(abort, (event) => queue.push(event)).then(
    () => queue.end(),
    (error: unknown) => queue.fail(signal.aborted ? signal.reason : failure(error)),
  );
  return queue;
}

/** All choices at once; when one fails, the others are aborted and its error is thrown. */
export async function allChoices<T>(
  n: number,
  abort: AbortController,
  answer: (choice: number) => Promise<T>,
): Promise<T[]> {
  const choices = await Promise.allSettled(
    Array.from({ length: n }, async (_, choice) => {
      try {
        return await answer(choice);
      } catch (error) {
        abort.abort(error);
        throw error;
      }
    }),
  );
  return choices.map((choice) => {
    if (choice.status === 'rejected') throw choice.reason;
    return choice.value;
  });
}
