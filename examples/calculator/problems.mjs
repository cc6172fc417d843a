/**
 * Makes arithmetic word problems, in this project's own wording, from a seed. The same seed gives the same problems on every machine.
 * A problem is `{ kind, question, expression, answer }`: one or two operations on numbers of the story, sometimes with a number that does not matter.
 */
import { containers, distractions, names, people, places, stories, things, words } from './stories.mjs';

/** mulberry32: a 32-bit generator, enough for sampling stories. */
export function seededRandom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Story helpers around one random source. */
function storyteller(random) {
  const integer = (low, high) => low + Math.floor(random() * (high - low + 1));
  const pick = (list) => list[integer(0, list.length - 1)];
  const size = () => (random() < 0.55 ? integer(2, 20) : random() < 0.75 ? integer(11, 99) : integer(100, 950));
  return { random, integer, pick, size };
}

export const kinds = Object.keys(stories);

/** One problem. `random` comes from `seededRandom`. */
export function makeProblem(random) {
  const teller = storyteller(random);
  const { integer, pick, size } = teller;
  const kind = random() < 0.08 ? 'twoStep' : pick(kinds.slice(0, 4));
  const n = pick(names);
  const t = pick(things);
  const scene = {
    n,
    m: pick(names.filter((name) => name !== n)),
    t,
    u: pick(things.filter((thing) => thing !== t)),
    c: pick(containers),
    p: pick(places),
    g: pick(people),
    a: size(),
    b: size(),
    d: integer(2, 20),
    x: integer(2, 12),
    y: random() < 0.7 ? integer(2, 15) : integer(12, 60),
    z: integer(2, 99),
  };
  const [story, expression] = pick(stories[kind])(scene);
  const question = random() < 0.3 ? `${pick(distractions)(scene)} ${story}` : story;
  return { kind, question, expression, answer: String(evaluate(expression)) };
}

const syllables =
  'ba be bi bo da de do fa fi ga go ha he ka ki la le lo ma mi mo na ne no pa pe po ra re ri sa se so ta te to va we wa zo'.split(
    ' ',
  );
const filler = words(`
  the a some of in on with for to and then after before during at from by each every all more left still now game week day year bus music
  team class party trip money total first last old new big small red blue went came had has got gave took made saw kept put sold bought
`);

/**
 * Text that tells nothing but has the outer form of a problem: known and invented words, two to four numbers, a question mark.
 * Reading it teaches a model to keep to the form and to copy numbers whatever the words around them are.
 */
export function makeScribble(random) {
  const { integer, pick, size } = storyteller(random);
  const invented = () => {
    const word = Array.from({ length: integer(2, 4) }, () => pick(syllables)).join('');
    return random() < 0.5
      ? `${word[0].toUpperCase()}${word.slice(1)}`
      : `${word}${pick(['', 's', 'n', 'r', 'ing', 'ed'])}`;
  };
  const numbers = Array.from({ length: integer(2, 4) }, size);
  const sentence = (inside) => {
    const parts = Array.from({ length: integer(4, 11) }, () =>
      pick([pick(filler), pick(filler), pick(things), pick(names), invented()]),
    );
    for (const number of inside) parts.splice(integer(0, parts.length), 0, `${pick(['', '', '', '$', '$ '])}${number}`);
    return parts.join(' ');
  };
  const told = numbers.slice(0, -1).map((number) => `${sentence([number])}.`);
  const asked = `${pick(['How many', 'How much', 'If', 'What'])} ${sentence([numbers.at(-1)])}?`;
  return { question: [...told, asked].join(' '), numbers };
}

/** `count` different problems whose questions are not in `exclude`. */
export function makeProblems({ seed, count, exclude = new Set() }) {
  const random = seededRandom(seed);
  const seen = new Set(exclude);
  const problems = [];
  while (problems.length < count) {
    const problem = makeProblem(random);
    if (seen.has(problem.question)) continue;
    seen.add(problem.question);
    problems.push(problem);
  }
  return problems;
}

/** Value of an expression of numbers, + - * / and parentheses that this file wrote. */
function evaluate(expression) {
  return Function(`"use strict"; return (${expression});`)();
}
