// node make-tasks.mjs: writes tasks/train.jsonl and tasks/validation.jsonl.
import { writeFileSync } from 'node:fs';
import { hidden } from './scripted-model.mjs';

const opening = { hurried: 'I am hurried.', worried: 'I am worried.', formal: 'To be formal:' };
const subjects = {
  refund: [
    'I want a refund for the lamp',
    'When do I get my refund',
    'The refund is too small',
    'Refund or repair: refund',
  ],
  outage: ['There is an outage', 'Is the outage over', 'Another outage today', 'The outage hits all of us'],
  invoice: ['The invoice is wrong', 'I need a copy of the invoice', 'Who has the invoice', 'An invoice came twice'],
};

const tasks = Object.keys(hidden.writer).flatMap((manner) =>
  Object.entries(subjects).flatMap(([topic, texts]) =>
    texts.map((text, number) => ({
      id: `${topic}-${manner}-${number}`,
      ticket: `${opening[manner]} ${text.includes(topic) ? text : `${text}, a ${topic}`}.`,
      notes: hidden.sorter[topic].shows,
      reply: hidden.writer[manner].shows,
    })),
  ),
);
const write = (name, rows) =>
  writeFileSync(
    new URL(`tasks/${name}.jsonl`, import.meta.url),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
write(
  'train',
  tasks.filter(({ id }) => !id.endsWith('3')),
);
write(
  'validation',
  tasks.filter(({ id }) => id.endsWith('3')),
);
