/** setTimeout fires at once for anything longer. */
export const longestTimerMs = 2 ** 31 - 1;
