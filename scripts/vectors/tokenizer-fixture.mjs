// Writes what scripts/vectors/tokenizer.py and chat_template.py read: our own trained tokenizer and default template.
// Run after a build: node scripts/vectors/tokenizer-fixture.mjs
import { readFile, writeFile } from 'node:fs/promises';
import { trainTokenizer } from '../../packages/engine/dist/text/bpe-trainer.js';
import { defaultChatTemplate } from '../../packages/engine/dist/text/default-template.js';

const folder = new URL('../../packages/engine/vectors/tokenizer/', import.meta.url);
const corpus = await readFile(new URL('corpus.txt', folder), 'utf8');
const files = trainTokenizer([corpus], {
  vocabularySize: 480,
  specialTokens: ['<|pad|>', '<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>'],
  eosToken: '<|im_end|>',
  padToken: '<|pad|>',
});
for (const [name, content] of Object.entries(files)) await writeFile(new URL(name, folder), content);
await writeFile(new URL('chat_template.jinja', folder), defaultChatTemplate);
