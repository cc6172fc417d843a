/** Resolves at Ctrl-C, or when somebody asks the process to end. */
export function terminated(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  });
}
