/**
 * Overlap of words between two short answers, as SQuAD scores them: the harmonic mean of precision and recall over the
 * multiset of words, after lower case and without punctuation and articles (Rajpurkar et al. 2016, arXiv 1606.05250, §6.1).
 * @returns between 0 and 1; two answers without a word left are equal
 */
export function f1Score(found: string, expected: string): number {
  const foundWords = words(found);
  const expectedWords = words(expected);
  if (foundWords.length === 0 || expectedWords.length === 0) return foundWords.length === expectedWords.length ? 1 : 0;
  const common = overlap(foundWords, expectedWords);
  return (2 * common) / (foundWords.length + expectedWords.length);
}

function words(text: string): string[] {
  const plain = text.normalize('NFC').toLowerCase().replaceAll(/\p{P}/gu, '');
  return plain.split(/\s+/u).filter((word) => word !== '' && !articles.has(word));
}

const articles = new Set(['a', 'an', 'the']);

function overlap(left: readonly string[], right: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of right) {
    const count = counts.get(word) ?? 0;
    if (count === 0) continue;
    counts.set(word, count - 1);
    common += 1;
  }
  return common;
}
