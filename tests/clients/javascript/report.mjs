/** What every client is asked, word for word. The model answers by these words. */
export const prompts = { plain: 'PLAIN please', streamed: 'STREAM please', tool: 'TOOL please' };
export const model = process.env.AGL_MODEL;
export const instructions = 'You are an agent in a test.';
export const description = 'Adds one to a number.';

/** What the tool gives for any number. */
export const toolResult = 'result 4242';

/** Prints what the client got, for the test to compare: texts, the tool's arguments, the answer after the tool. */
export async function report(conversations) {
  const { plain, streamed, tool } = conversations;
  const got = { plain: await plain(), streamed: await streamed(), tool: await tool() };
  process.stdout.write(`${JSON.stringify(got)}\n`);
  // Some clients keep connections or timers.
  process.exit(0);
}
