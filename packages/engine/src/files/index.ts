/** What is on disk: weight files, model folders, and writing that a kill cannot halve. Must not know graphs, training or workers. */
export { recoverFolder, writeFolderAtomic } from './atomic.ts';
export { type ExportForm, exportForms, exportModel } from './export.ts';
export { isHubReference } from './hub.ts';
export { loadModelFolder, readModelConfig, saveModelFolder } from './model-folder.ts';
export { modelFolder } from './model-source.ts';
export { readSafetensors } from './safetensors.ts';
export { type WritableTensor, writeSafetensors } from './safetensors-writer.ts';
export type { StoredModel } from './stored-model.ts';
export {
  isJsonObject,
  type JsonObject,
  readJsonObject,
  readOptionalJsonObject,
  readOptionalText,
} from './text-file.ts';
