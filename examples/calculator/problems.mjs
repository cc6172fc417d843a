/**
 * Makes arithmetic word problems, in this project's own wording, from a seed. The same seed gives the same problems on every machine.
 * A problem is `{ kind, question, expression, answer }`: one or two operations on numbers of the story, sometimes with a number that does not matter.
 */

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

const words = (text) => text.trim().split(/\s+/);

const names = words(`
  Mia Omar Lena Tom Aiko Ravi Sara Ben Ines Hugo Nora Paul Zoe Ivan Maya Luis Emma Amir Clara Finn Rosa Noah Ella Jack Kofi Anna Sam Ruth
  Leo Dina Julia Marco Helen Victor Olga Peter Alice Simon Grace Felix Irene Oscar Nadia Erik Lucy Adam Vera Carlos Diana Frank
`);
const things = words(`
  apples books pencils coins stamps marbles cards shells stickers cookies flowers balloons candles buttons oranges plates chairs bottles
  tickets toys eggs cups pens ribbons rocks photos peaches crackers cakes pages bananas bricks blocks games hats gloves socks shirts lemons
  pears trees seeds leaves feathers beads rings dolls kites drums lamps spoons forks bowls sandwiches pies muffins carrots tomatoes onions
  potatoes notebooks magazines letters posters paintings puzzles robots boats cars trains bikes fish birds rabbits
`);
const containers = words(
  'boxes bags baskets shelves trays jars packs rows tables crates drawers albums cages tanks piles bundles',
);
const places = words(
  'shop school market library garden farm kitchen park office museum zoo bakery station harbour theatre club',
);
const people = words(
  'friends children students guests players neighbours cousins visitors workers kids classmates girls boys teachers',
);

/** Story helpers around one random source. */
function storyteller(random) {
  const integer = (low, high) => low + Math.floor(random() * (high - low + 1));
  const pick = (list) => list[integer(0, list.length - 1)];
  const size = () => (random() < 0.55 ? integer(2, 20) : random() < 0.75 ? integer(11, 99) : integer(100, 950));
  return { random, integer, pick, size };
}

/** Kind → list of stories. A story takes the storyteller and returns `[text, expression]`. */
const stories = {
  add: [
    ({ n, t, a, b }) => [`${n} has ${a} ${t} and gets ${b} more. How many ${t} does ${n} have now?`, `${a}+${b}`],
    ({ n, m, t, a, b }) => [
      `${n} found ${a} ${t} and ${m} found ${b} ${t}. How many ${t} did they find together?`,
      `${a}+${b}`,
    ],
    ({ p, t, a, b }) => [
      `In the morning the ${p} sold ${a} ${t}. In the afternoon it sold ${b}. How many ${t} were sold in all?`,
      `${a}+${b}`,
    ],
    ({ n, t, a, b }) => [
      `After giving away ${a} ${t}, ${n} still has ${b} left. How many ${t} did ${n} have at first?`,
      `${a}+${b}`,
    ],
    ({ n, m, t, a, b }) => [
      `${n} has ${a} ${t}. ${m} has ${b} more than ${n}. How many ${t} does ${m} have?`,
      `${a}+${b}`,
    ],
    ({ p, g, a, b }) => [
      `There were ${a} ${g} in the ${p}. Then ${b} more came. How many ${g} are in the ${p} now?`,
      `${a}+${b}`,
    ],
    ({ n, a, b, t, u }) => [
      `${n} bought ${a} ${t} and ${b} ${u}. What is the total number of things ${n} bought?`,
      `${a}+${b}`,
    ],
    ({ n, a, b }) => [
      `${n} walked ${a} miles on Monday and ${b} miles on Tuesday. How far did ${n} walk altogether?`,
      `${a}+${b}`,
    ],
  ],
  subtract: [
    ({ n, t, a, b }) => [`${n} had ${a + b} ${t} and lost ${b} of them. How many ${t} are left?`, `${a + b}-${b}`],
    ({ n, m, t, a, b }) => [
      `${n} has ${a + b} ${t} and ${m} has ${b}. How many more ${t} does ${n} have than ${m}?`,
      `${a + b}-${b}`,
    ],
    ({ p, g, a, b }) => [
      `There were ${a + b} ${g} in the ${p}. If ${b} of them went home, how many ${g} stayed?`,
      `${a + b}-${b}`,
    ],
    ({ n, t, a, b }) => [
      `${n} wants ${a + b} ${t} but has only ${b} so far. How many more ${t} does ${n} need?`,
      `${a + b}-${b}`,
    ],
    ({ n, m, t, a, b }) => [
      `${n} gave ${b} of the ${a + b} ${t} to ${m}. How many ${t} does ${n} still have?`,
      `${a + b}-${b}`,
    ],
    ({ n, t, a, b }) => [
      `This week ${n} sold ${b} ${t}. Last week it was ${a + b}. How many fewer ${t} were sold this week?`,
      `${a + b}-${b}`,
    ],
    ({ n, t, a, b }) => [
      `${n} ate some of the ${a + b} ${t}. Now there are ${b}. How many ${t} did ${n} eat?`,
      `${a + b}-${b}`,
    ],
    ({ n, a, b }) => [`${n} had $${a + b} and spent $${b}. How much money does ${n} have now?`, `${a + b}-${b}`],
  ],
  multiply: [
    ({ n, t, c, x, y }) => [
      `${n} has ${x} ${c} with ${y} ${t} in each. How many ${t} does ${n} have in all?`,
      `${x}*${y}`,
    ],
    ({ g, t, x, y }) => [
      `Each of the ${x} ${g} brought ${y} ${t}. How many ${t} did they bring in total?`,
      `${x}*${y}`,
    ],
    ({ n, t, x, y }) => [`One of the ${t} costs $${x}. How much does ${n} pay for ${y} ${t}?`, `${x}*${y}`],
    ({ n, t, x, y }) => [`${n} makes ${x} ${t} every day. How many ${t} does ${n} make in ${y} days?`, `${x}*${y}`],
    ({ p, c, t, x, y }) => [
      `The ${p} has ${x} ${c}. Every one of them holds ${y} ${t}. How many ${t} are there?`,
      `${x}*${y}`,
    ],
    ({ n, m, t, x, y }) => [
      `${n} has ${x} ${t}. ${m} has ${y} times as many. How many ${t} does ${m} have?`,
      `${x}*${y}`,
    ],
    ({ n, x, y }) => [`${n} reads ${x} pages each day for ${y} days. How many pages does ${n} read?`, `${x}*${y}`],
    ({ g, x, y }) => [`There are ${x} teams with ${y} ${g} each. How many ${g} are there altogether?`, `${x}*${y}`],
  ],
  divide: [
    ({ n, t, g, x, y }) => [
      `${n} shares ${x * y} ${t} equally among ${x} ${g}. How many ${t} does each one get?`,
      `${x * y}/${x}`,
    ],
    ({ t, c, x, y }) => [`${x * y} ${t} are put into ${c} of ${x}. How many ${c} are needed?`, `${x * y}/${x}`],
    ({ n, t, c, x, y }) => [
      `${n} has ${x * y} ${t} in ${x} ${c}, the same number in each. How many ${t} are in each of the ${c}?`,
      `${x * y}/${x}`,
    ],
    ({ n, t, x, y }) => [`${n} paid $${x * y} for ${x} ${t}. What is the price of one?`, `${x * y}/${x}`],
    ({ p, g, x, y }) => [
      `The ${p} splits ${x * y} ${g} into ${x} equal groups. How many ${g} are in each group?`,
      `${x * y}/${x}`,
    ],
    ({ n, t, x, y }) => [
      `${n} made ${x * y} ${t} in ${x} days, the same number every day. How many ${t} did ${n} make per day?`,
      `${x * y}/${x}`,
    ],
    ({ n, x, y }) => [
      `A book has ${x * y} pages. If ${n} reads ${x} pages a day, how many days does it take to finish?`,
      `${x * y}/${x}`,
    ],
    ({ g, t, x, y }) => [`Some ${g} ate ${x * y} ${t}. If each ate ${x}, how many ${g} were there?`, `${x * y}/${x}`],
  ],
  twoStep: [
    ({ n, t, c, x, y, b }) => [
      `${n} has ${x} ${c} with ${y} ${t} in each and ${b} more ${t} on the floor. How many ${t} are there in all?`,
      `${x}*${y}+${b}`,
    ],
    ({ n, t, a, b, d }) => [
      `${n} had ${a + b} ${t}, gave away ${b} and then bought ${d}. How many ${t} does ${n} have now?`,
      `${a + b}-${b}+${d}`,
    ],
    ({ n, t, u, g, x, y }) => [
      `${n} shares ${x * y - y} ${t} and ${y} ${u} equally among ${x} ${g}. How many things does each one get?`,
      `(${x * y - y}+${y})/${x}`,
    ],
    ({ n, t, x, y, b }) => [
      `${n} buys ${x} ${t} for $${y} each and pays $${b} for the bus. How much does ${n} spend in total?`,
      `${x}*${y}+${b}`,
    ],
  ],
};

const distractions = [
  ({ m, u, z }) => `${m} has ${z} ${u}.`,
  ({ p, z }) => `The ${p} is ${z} years old.`,
  ({ n, z }) => `${n} is ${z} years old.`,
  ({ p, z }) => `It is ${z} miles to the ${p}.`,
];

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
  const question = random() < 0.2 ? `${pick(distractions)(scene)} ${story}` : story;
  return { kind, question, expression, answer: String(evaluate(expression)) };
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
