/** Lets a loop sleep until there is something to do. A signal that comes while nobody waits is kept, never lost. */
export interface Wake {
  signal(): void;
  /** Ends at a signal, or after the time when one is given. */
  wait(ms?: number): Promise<void>;
}

export function createWake(): Wake {
  let pending = false;
  let end: (() => void) | null = null;
  return {
    signal() {
      pending = true;
      end?.();
    },
    async wait(ms) {
      if (!pending) {
        await new Promise<void>((resolve) => {
          const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = null;
      }
      pending = false;
    },
  };
}
