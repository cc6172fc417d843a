/** The architectures that can be read: one file each, and a line here. Must not know tensors, graphs or training. */
import type { Family } from './family.ts';
import { gemma2, gemma3 } from './gemma.ts';
import { llama } from './llama.ts';
import { mistral } from './mistral.ts';
import { phi3 } from './phi3.ts';
import { qwen2 } from './qwen2.ts';
import { qwen3 } from './qwen3.ts';

export type { Family } from './family.ts';

/** Of several with the same name in GGUF files, the first is meant. */
export const families: readonly Family[] = [llama, mistral, qwen2, qwen3, gemma2, gemma3, phi3];

/** The family of a configuration that was read by `readConfig`. */
export function familyOf(config: { family?: string }): Family {
  return families.find(({ name }) => name === (config.family ?? 'llama')) ?? llama;
}
