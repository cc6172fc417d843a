/** Writing systems that a text's letters are told apart by. Japanese mixes three of them. */
const scripts: readonly [name: string, letters: RegExp][] = [
  ['Latin', /\p{Script=Latin}/gu],
  ['Cyrillic', /\p{Script=Cyrillic}/gu],
  ['Greek', /\p{Script=Greek}/gu],
  ['Arabic', /\p{Script=Arabic}/gu],
  ['Hebrew', /\p{Script=Hebrew}/gu],
  ['Devanagari', /\p{Script=Devanagari}/gu],
  ['Thai', /\p{Script=Thai}/gu],
  ['Hangul', /\p{Script=Hangul}/gu],
  ['Chinese or Japanese', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu],
];

/** Small words that are frequent in one language and rare in the others. */
const smallWords: readonly [language: string, words: readonly string[]][] = [
  ['English', ['the', 'and', 'of', 'is', 'with', 'that', 'you', 'your', 'not', 'each', 'this', 'must']],
  ['German', ['der', 'die', 'das', 'und', 'ist', 'nicht', 'mit', 'ein', 'eine', 'auf', 'du', 'jede']],
  ['French', ['le', 'les', 'et', 'est', 'une', 'des', 'dans', 'vous', 'pour', 'pas', 'chaque', 'du']],
  ['Spanish', ['el', 'los', 'y', 'una', 'para', 'con', 'que', 'debe', 'cada', 'las', 'es', 'del']],
  ['Italian', ['il', 'gli', 'che', 'una', 'per', 'con', 'non', 'ogni', 'della', 'sono', 'è', 'di']],
  ['Portuguese', ['os', 'uma', 'não', 'com', 'você', 'para', 'cada', 'deve', 'em', 'são', 'do', 'da']],
];

/** A text that is shorter does not tell its language. */
const leastLetters = 20;
const leastSmallWords = 3;

/**
 * The language of the answer when it is surely another one than that of the original; null when it is the same, or
 * cannot be told. A prompt that was translated on the way is no improvement that anybody asked for.
 */
export function otherLanguage(original: string, answer: string): string | null {
  const [before, after] = [scriptOf(original), scriptOf(answer)];
  if (before === null || after === null) return null;
  if (before !== after) return after;
  const [from, to] = [languageOf(original), languageOf(answer)];
  return from !== null && to !== null && from !== to ? to : null;
}

function scriptOf(text: string): string | null {
  const counts = scripts.map(([name, letters]) => ({ name, count: text.match(letters)?.length ?? 0 }));
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const most = counts.reduce((best, each) => (each.count > best.count ? each : best));
  return total < leastLetters || most.count < total / 2 ? null : most.name;
}

function languageOf(text: string): string | null {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [first, second] = smallWords
    .map(([name, own]) => ({ name, count: words.filter((word) => own.includes(word)).length }))
    .sort((a, b) => b.count - a.count);
  if (first === undefined || second === undefined) return null;
  return first.count >= leastSmallWords && first.count >= 2 * second.count ? first.name : null;
}
