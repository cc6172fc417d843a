/**
 * The merges of a SentencePiece BPE vocabulary, which stores only the pieces and their scores: a piece comes from every pair of
 * pieces that it can be cut into, the best score first (as transformers' `generate_merges` does it).
 *
 * @param whole pieces that are matched as they are, and never come from merges
 */
export function mergesByScore(
  pieces: readonly string[],
  scores: readonly number[],
  whole: ReadonlySet<string>,
): [left: string, right: string][] {
  const known = new Set(pieces);
  const merges: { left: string; right: string; score: number; sizes: [number, number] }[] = [];
  for (const [id, piece] of pieces.entries()) {
    if (whole.has(piece)) continue;
    const letters = [...piece];
    let left = '';
    for (let cut = 1; cut < letters.length; cut++) {
      left += letters[cut - 1]!;
      const right = piece.slice(left.length);
      if (!known.has(left) || !known.has(right)) continue;
      const sizes: [number, number] = [cut, letters.length - cut];
      merges.push({ left, right, score: scores[id] ?? 0, sizes });
    }
  }
  return merges
    .sort((a, b) => b.score - a.score || b.sizes[0] - a.sizes[0] || b.sizes[1] - a.sizes[1])
    .map(({ left, right }) => [left, right]);
}
