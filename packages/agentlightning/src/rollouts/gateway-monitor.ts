export interface GatewayMonitorOptions {
  /** Asks once whether the gateway answers. */
  probe: (signal: AbortSignal) => Promise<boolean>;
  /** UTC milliseconds. */
  now: () => number;
  /** Between two looks. Default 1 s. */
  everyMs?: number;
}

/** Knows when the gateway could not be reached, so that its failure is not taken for one of the agents that called it. */
export interface GatewayMonitor {
  start(): void;
  /** True when it was unreachable at some time since `startedAt`. */
  wasDownSince(startedAt: number): boolean;
  stop(): void;
}

const probeTimeoutMs = 5_000;

export function createGatewayMonitor({ probe, now, everyMs = 1_000 }: GatewayMonitorOptions): GatewayMonitor {
  let lastDownAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function look(): Promise<void> {
    const up = await probe(AbortSignal.timeout(probeTimeoutMs)).catch(() => false);
    if (!up) lastDownAt = now();
    if (!stopped) timer = setTimeout(() => void look(), everyMs);
  }

  return {
    start() {
      if (timer === undefined && !stopped) timer = setTimeout(() => void look(), everyMs);
    },
    wasDownSince: (startedAt) => lastDownAt >= startedAt,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Asks the gateway itself. */
export function probeOf(baseUrl: string): GatewayMonitorOptions['probe'] {
  return async (signal) => (await fetch(`${baseUrl.replace(/\/+$/, '')}/healthz`, { signal })).ok;
}
