// Renders and tokenises what conversations.py wrote, and compares: node conversations.mjs FOLDER CASES.json
import { readFileSync } from 'node:fs';
import { ChatTemplate, loadTokenizer } from '../../packages/engine/dist/text/index.js';

const [folder, file] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(file, 'utf8'));
const [template, tokenizer] = await Promise.all([ChatTemplate.load(folder), loadTokenizer(folder)]);
const wrong = [];
for (const [index, { text, ids, ...request }] of cases.entries()) {
  const ours = template.render(request);
  const tokens = tokenizer.encode(text);
  const at = tokens.findIndex((id, i) => id !== ids[i]);
  if (ours !== text) wrong.push({ index, what: 'text', ours, text });
  if (at >= 0 || tokens.length !== ids.length)
    wrong.push({
      index,
      what: 'ids',
      at,
      ours: tokens.slice(at, at + 5),
      ids: ids.slice(at, at + 5),
      around: tokenizer.decode(ids.slice(Math.max(0, at - 3), at + 5)),
    });
}
const tokens = cases.reduce((sum, { ids }) => sum + ids.length, 0);
console.log(
  JSON.stringify({ folder: folder.split('/').at(-1), conversations: cases.length, tokens, wrong: wrong.length }),
);
if (wrong.length > 0) throw new Error(`The first of them: ${JSON.stringify(wrong[0])}`);
