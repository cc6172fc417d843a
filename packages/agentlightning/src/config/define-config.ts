import type { ConfigInput } from './schema.ts';

/** For `export default defineConfig({…})` in agl.config.ts: gives the editor the types, changes nothing. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
