import pg from 'pg';

export interface ListenerOptions {
  config: pg.ClientConfig;
  channel: string;
  /** Called for each notification with its text, and with null when some may have been missed. */
  onNotification: (payload: string | null) => void;
  firstPauseMs?: number;
  maxPauseMs?: number;
}

/**
 * A connection that only listens, opened again whenever it is lost. Notifications are a hint: what comes while there is
 * no connection is lost.
 */
export class Listener {
  readonly #options: ListenerOptions;
  #client: pg.Client | null = null;
  #pause: NodeJS.Timeout | undefined;
  #failures = 0;
  #stopped = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#pause);
    this.#client?.end().catch(() => {}); // it may be lost already
  }

  async #connect(): Promise<void> {
    const { config, channel, onNotification } = this.#options;
    const client = new pg.Client(config);
    this.#client = client;
    client.on('error', () => {}); // `end` comes after it
    client.once('end', () => this.#again());
    client.on('notification', ({ payload }) => onNotification(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      this.#failures = 0;
      if (!this.#stopped) onNotification(null);
    } catch {
      await client.end().catch(() => {}); // leads to `end` where it has not come yet
      this.#again();
    }
  }

  #again(): void {
    if (this.#stopped || this.#pause !== undefined) return;
    const { firstPauseMs = 50, maxPauseMs = 2000 } = this.#options;
    const ms = Math.min(firstPauseMs * 2 ** this.#failures, maxPauseMs);
    this.#failures += 1;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      void this.#connect();
    }, ms);
  }
}
