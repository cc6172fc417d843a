import { homedir } from 'node:os';
import { join } from 'node:path';
import { ggufFolder } from './gguf/index.ts';
import { downloadModel, type HubOptions, isHubReference } from './hub.ts';

export interface ModelSourceOptions extends HubOptions {
  /** Default: AGL_CACHE, else `agentlightning` in XDG_CACHE_HOME or ~/.cache. */
  cacheFolder?: string;
}

/**
 * The folder of a model that is named by a folder, by a GGUF file, or by `hf:owner/name` (also `hf:owner/name@revision` and
 * `hf:owner/name/file.gguf`), which is downloaded once. Only the last form ever uses the network.
 *
 * @throws {EngineError} what `ggufFolder` and `downloadModel` throw
 */
export async function modelFolder(source: string, options: ModelSourceOptions = {}): Promise<string> {
  const { cacheFolder = defaultCacheFolder(), ...hub } = options;
  const path = isHubReference(source) ? await downloadModel(source, cacheFolder, hub) : source;
  return path.endsWith('.gguf') ? ggufFolder(path, cacheFolder) : path;
}

function defaultCacheFolder(): string {
  const { AGL_CACHE: own, XDG_CACHE_HOME: caches } = process.env;
  return own || join(caches || join(homedir(), '.cache'), 'agentlightning');
}
