/** A line for every tenth of a file. */
export function progressLines(write: (message: string) => void) {
  const tenths = new Map<string, number>();
  return ({ file, doneBytes, totalBytes }: { file: string; doneBytes: number; totalBytes: number }) => {
    const tenth = Math.floor((10 * doneBytes) / totalBytes);
    if (tenth === tenths.get(file)) return;
    tenths.set(file, tenth);
    write(`Downloading ${file}: ${tenth * 10} % of ${(totalBytes / 1e6).toFixed(1)} MB`);
  };
}
