import type { Store } from '../store.ts';

/** Time stands still until a test moves it. */
export class ManualClock {
  now = 1_700_000_000_000;
  readonly read = (): number => this.now;
}

export interface StoreHarness {
  readonly clock: ManualClock;
  /** False: requests that are under way together may arrive in any order, as over a network. */
  readonly inOrder: boolean;
  /** The store that is open now. */
  readonly store: Store;
  /** Closes the store and opens the same one again. */
  reopen(): Promise<Store>;
  /** Closes the store and removes it. */
  dispose(): Promise<void>;
}

/** A fresh, empty store. */
export type OpenHarness = () => Promise<StoreHarness>;

export async function withStore<T>(open: OpenHarness, body: (harness: StoreHarness) => Promise<T>): Promise<T> {
  const harness = await open();
  try {
    return await body(harness);
  } finally {
    await harness.dispose();
  }
}

/** As {@link withStore}, in the form that a test takes. */
export function storeTest(open: OpenHarness, body: (harness: StoreHarness) => Promise<void>): () => Promise<void> {
  return () => withStore(open, body);
}
