/** The wording of the problems, this project's own: words to fill in, and stories by kind of arithmetic. */

export const words = (text) => text.trim().split(/\s+/);

export const names = words(`
  Mia Omar Lena Tom Aiko Ravi Sara Ben Ines Hugo Nora Paul Zoe Ivan Maya Luis Emma Amir Clara Finn Rosa Noah Ella Jack Kofi Anna Sam Ruth
  Leo Dina Julia Marco Helen Victor Olga Peter Alice Simon Grace Felix Irene Oscar Nadia Erik Lucy Adam Vera Carlos Diana Frank
`);
export const things = words(`
  apples books pencils coins stamps marbles cards shells stickers cookies flowers balloons candles buttons oranges plates chairs bottles
  tickets toys eggs cups pens ribbons rocks photos peaches crackers cakes pages bananas bricks blocks games hats gloves socks shirts lemons
  pears trees seeds leaves feathers beads rings dolls kites drums lamps spoons forks bowls sandwiches pies muffins carrots tomatoes onions
  potatoes notebooks magazines letters posters paintings puzzles robots boats cars trains bikes fish birds rabbits
`);
export const containers = words(
  'boxes bags baskets shelves trays jars packs rows tables crates drawers albums cages tanks piles bundles',
);
export const places = words(
  'shop school market library garden farm kitchen park office museum zoo bakery station harbour theatre club',
);
export const people = words(
  'friends children students guests players neighbours cousins visitors workers kids classmates girls boys teachers',
);

/** Kind → list of stories. A story takes the storyteller and returns `[text, expression]`. */
export const stories = {
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
    ({ n, t, a, b }) => [`How many ${t} did ${n} have at first, if ${b} are left after ${a} were sold?`, `${a}+${b}`],
    ({ p, a, b }) => [
      `${a} people were on the train. At the ${p}, ${b} more people got on. How many people are on the train now?`,
      `${a}+${b}`,
    ],
    ({ n, a, b }) => [
      `${n} spent $ ${a} on lunch and then had $ ${b} left. How much money did ${n} have before lunch?`,
      `${a}+${b}`,
    ],
    ({ n, m, t, a, b }) => [
      `${n} picked ${a} ${t}, which is ${b} fewer than ${m} picked. How many ${t} did ${m} pick?`,
      `${a}+${b}`,
    ],
    ({ n, t, u, a, b }) => [
      `If ${n} collects ${a} ${t} and ${b} ${u} during the summer, how many things is that altogether?`,
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
    ({ n, t, u, a, b }) => [
      `${n} owns ${a + b} ${t} and ${u}. ${b} of them are ${u}. How many are ${t}?`,
      `${a + b}-${b}`,
    ],
    ({ n, a, b }) => [
      `${n} got $ ${a + b} as a present. After shopping there were $ ${b} left. How much did ${n} spend?`,
      `${a + b}-${b}`,
    ],
    ({ p, a, b }) => [
      `${a + b} people were riding the bus. At the ${p} some of them got off. Then ${b} people were left. How many got off?`,
      `${a + b}-${b}`,
    ],
    ({ n, m, a, b }) => [
      `${n} ran ${b} metres. ${m} ran ${a + b} metres. How much farther did ${m} run than ${n}?`,
      `${a + b}-${b}`,
    ],
    ({ n, t, a, b }) => [`How many ${t} must ${n} give away so that ${b} of the ${a + b} remain?`, `${a + b}-${b}`],
    ({ n, t, a, b }) => [
      `${n} had ${b} ${t}, found some more and now has ${a + b}. How many did ${n} find?`,
      `${a + b}-${b}`,
    ],
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
    ({ n, x, y }) => [`${n} earns $ ${x} every week. How much money is that in ${y} weeks?`, `${x}*${y}`],
    ({ g, t, x, y }) => [`How many ${t} do ${x} ${g} need if every one of them gets ${y}?`, `${x}*${y}`],
    ({ n, t, x, y }) => [
      `${n} sold ${y} ${t} for $ ${x} each during the game. How much money did ${n} make?`,
      `${x}*${y}`,
    ],
    ({ t, x, y }) => [`There are ${x} rows with ${y} ${t} in every row. How many ${t} is that in total?`, `${x}*${y}`],
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
    ({ n, x, y }) => [
      `${n} earned $ ${x * y} in ${x} weeks of work, the same each week. How much did ${n} earn every week?`,
      `${x * y}/${x}`,
    ],
    ({ n, x, y }) => [`${n} earns $ ${x} a week. How many weeks does it take to earn $ ${x * y}?`, `${x * y}/${x}`],
    ({ n, t, x, y }) => [
      `How many groups can ${n} make of ${x * y} ${t}, if there are to be ${x} in each group?`,
      `${x * y}/${x}`,
    ],
    ({ n, t, x, y }) => [
      `${n} has ${x * y} ${t} in all, sorted into ${x} equal piles. How big is each pile?`,
      `${x * y}/${x}`,
    ],
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

/** Sentences with a number that does not matter. */
export const distractions = [
  ({ m, u, z }) => `${m} has ${z} ${u}.`,
  ({ p, z }) => `The ${p} is ${z} years old.`,
  ({ n, z }) => `${n} is ${z} years old.`,
  ({ p, z }) => `It is ${z} miles to the ${p}.`,
];
