import type { AnswerDecoder, ChatTemplate, TemplateRequest, Tokenizer } from '../text.ts';

const specials = ['<|im_start|>', '<|im_end|>'];
/** Some pairs have a token of their own, so that a text has several tokenisations. */
const pairs = ['42', 'he', 'll', '":'];

export const endOfTurnId = 257;

/** Ids 0 … 255 are bytes, then the special tokens, then the pairs. */
export const byteTokenizer: Tokenizer = {
  encode(text) {
    const ids: number[] = [];
    for (const piece of text.split(/(<\|im_start\|>|<\|im_end\|>|42|he|ll|":)/)) {
      const special = specials.indexOf(piece);
      const pair = pairs.indexOf(piece);
      if (special >= 0) ids.push(256 + special);
      else if (pair >= 0) ids.push(258 + pair);
      else ids.push(...Buffer.from(piece));
    }
    return ids;
  },
  decode: (ids) => bytesOf(Array.from(ids)).toString('utf8'),
};

/** The ids of `text`, byte by byte: another tokenisation than `encode` gives. */
export function spellOut(text: string): number[] {
  return [...Buffer.from(text)];
}

export function createByteDecoder(): AnswerDecoder {
  const decoder = new TextDecoder();
  const spoken = (ids: number[]) => bytesOf(ids.filter((id) => id !== 256 && id !== 257));
  return {
    push: (...ids) => decoder.decode(spoken(ids), { stream: true }),
    finish: () => decoder.decode(),
  };
}

function bytesOf(ids: number[]): Buffer {
  return Buffer.concat(
    ids.map((id) => (id < 256 ? Buffer.of(id) : Buffer.from([...specials, ...pairs][id - 256] ?? ''))),
  );
}

/** ChatML as Qwen writes it: an arguments object is written anew, with spaces. */
export const chatMl: ChatTemplate = {
  render({ messages, tools, addGenerationPrompt }: TemplateRequest) {
    let text = tools.length > 0 ? `<|im_start|>system\nTools: ${JSON.stringify(tools)}<|im_end|>\n` : '';
    for (const message of messages) text += `<|im_start|>${message.role}\n${bodyOf(message)}<|im_end|>\n`;
    return addGenerationPrompt ? `${text}<|im_start|>assistant\n` : text;
  },
};

function bodyOf(message: TemplateRequest['messages'][number]): string {
  const calls = (message.tool_calls ?? []) as { function: { name: string; arguments: string } }[];
  const written = calls.map(
    (call) => `\n<tool_call>\n{"name": "${call.function.name}", "arguments": ${call.function.arguments}}\n</tool_call>`,
  );
  return `${message.content ?? ''}${written.join('')}`;
}
