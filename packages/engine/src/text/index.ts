/** Text and token ids: tokenizer, chat template, training of tokenizers. Must not know weights, graphs or sampling. */
export { type TrainedTokenizer, type TrainTokenizerOptions, trainTokenizer } from './bpe-trainer.ts';
export type { ChatMessage } from './chat-messages.ts';
export { ChatTemplate, type RenderRequest } from './chat-template.ts';
export { defaultChatTemplate } from './default-template.ts';
export { IncrementalDecoder } from './incremental-decoder.ts';
export { createTokenizer, loadTokenizer, type Tokenizer } from './tokenizer.ts';
