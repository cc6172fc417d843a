/**
 * The text that the base model learns from: conversations of a pupil who knows how to use a calculator but often presses the wrong key.
 * The pupil reads every number correctly most of the time, and takes the right operation only sometimes, so the base model can do the task and does it badly.
 */

/** How often the pupil does what. The rest of the time the expression is right. */
export const pupil = { prefersPlus: 0.5, otherOperation: 0.12, swapsNumbers: 0.05, misreads: 0.05, guesses: 0.03 };

const operations = ['+', '-', '*', '/'];

/** The expression the pupil types for a problem; null when the pupil guesses an answer without the calculator. */
export function pupilExpression(problem, random) {
  let dice = random();
  const chosen = (share) => {
    dice -= share;
    return dice < 0;
  };
  const pick = (list) => list[Math.floor(random() * list.length)];
  const numbers = problem.question.match(/\d+/g) ?? [];
  const { expression } = problem;
  if (chosen(pupil.prefersPlus)) return expression.replace(/[-*/]/g, '+');
  if (chosen(pupil.otherOperation)) return expression.replace(/[-+*/]/, () => pick(operations));
  if (chosen(pupil.swapsNumbers)) return expression.replace(/^(\d+)([-+*/])(\d+)$/, '$3$2$1');
  if (chosen(pupil.misreads)) return expression.replace(/\d+/, () => pick(numbers));
  if (chosen(pupil.guesses)) return null;
  return expression;
}

/** What the pupil types where there is nothing to understand: two of the numbers, mostly added. */
export function scribbleExpression({ numbers }, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const first = pick([...numbers.keys()]);
  const second = pick([...numbers.keys()].filter((index) => index !== first));
  const inOrder = random() < 0.65 ? [Math.min(first, second), Math.max(first, second)] : [first, second];
  const operation = random() < 0.4 ? '+' : pick(operations);
  return `${numbers[inOrder[0]]}${operation}${numbers[inOrder[1]]}`;
}

/** The messages of one lesson, in the form of OpenAI's chat API. `calculate` is the agent's own calculator. */
export function lesson({ question, expression }, random, calculate) {
  const user = { role: 'user', content: question };
  if (expression === null) {
    return [user, { role: 'assistant', content: String(Math.floor(random() * 100)) }];
  }
  const call = {
    id: 'call',
    type: 'function',
    function: { name: 'calculator', arguments: JSON.stringify({ expression }) },
  };
  const result = calculate(expression);
  return [
    user,
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call', content: result },
    { role: 'assistant', content: result },
  ];
}
