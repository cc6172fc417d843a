import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer } from '@agentlightning/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadModelText } from './model-text.ts';
import { PromptBuilder } from './prompt-builder.ts';
import { testModelFolder } from './testing/servers/test-model.ts';
import { turnOf } from './testing/turns.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-text-'));
  await cp(testModelFolder, folder, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

/** Turns of Llama 3's kind: the end of a text is another token than the end of a turn. */
const template =
  '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}</tool_call>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}{# </think> [TOOL_CALLS] #}';

it('takes the end token that the template writes, of several, and the forms that it shows', async () => {
  await writeFile(join(folder, 'chat_template.jinja'), template);
  await writeFile(join(folder, 'generation_config.json'), JSON.stringify({ eos_token_id: [2, 4] }));
  const text = await loadModelText(folder);
  expect([text.endOfTurnId, text.stopIds]).toEqual([4, [4, 2]]);
  expect([text.formats.toolCalls.name, text.formats.thinking]).toEqual(['mistral', true]);
  expect((await loadModelText(folder, { thinking: false })).formats.thinking).toBe(false);
  expect(new PromptBuilder(text).build('attempt', turnOf()).opensThinking).toBe(true);
});

it('leaves special tokens out of the text, but those of the form of calls', async () => {
  const tokenizer = await loadTokenizer(testModelFolder);
  const text = await loadModelText(testModelFolder);
  const ids = [...tokenizer.encode('<|im_start|>é<tool_call>{}</tool_call><|im_end|>')];
  const decoder = text.createDecoder();
  expect(ids.map((id) => decoder.push(id)).join('') + decoder.finish()).toBe('é<tool_call>{}</tool_call>');
});

it('names the folder of a model that ends no answer', async () => {
  const config = { tokenizer_class: 'PreTrainedTokenizerFast' };
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
  await rm(join(folder, 'generation_config.json'));
  await expect(loadModelText(folder)).rejects.toMatchObject({
    ...{ code: 'model_without_end', message: expect.stringContaining(folder) as string },
  });
});
