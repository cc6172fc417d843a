import { UserError } from '../errors.ts';
import { terminated } from './terminated.ts';

/** Aborted at Ctrl-C, or when somebody asks the process to end. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  void terminated().then(() =>
    controller.abort(new UserError({ code: 'interrupted', message: 'Interrupted; nothing was left half done.' })),
  );
  return controller.signal;
}
