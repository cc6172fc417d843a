import { type Config, configuredPrompts } from '../config/index.ts';
import { promptContent } from '../prompts/index.ts';
import type { Store } from '../store/store.ts';

/** Makes the prompts of a configuration the latest ones of the store: what attempts get from now on. */
export async function addConfiguredPrompts(
  store: Pick<Store, 'addResource'>,
  { prompts }: Pick<Config, 'prompts'>,
): Promise<void> {
  for (const { name, ...prompt } of configuredPrompts(prompts)) {
    await store.addResource({ name, kind: 'prompt', content: promptContent(prompt) });
  }
}
