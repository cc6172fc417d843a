import { EngineError } from '../errors.ts';
import type { LoraConfig, Parameters } from '../model/index.ts';
import { saveAdapterFolder } from './adapter-folder.ts';
import { saveGguf } from './gguf/save.ts';
import { saveModelFolder } from './model-folder.ts';
import type { StoredModel } from './stored-model.ts';

/**
 * - `model`: a folder of safetensors with adapters merged in, for transformers, vLLM and this engine;
 * - `adapter`: a folder of PEFT with the adapters alone;
 * - `gguf-…`: one file for llama.cpp, adapters merged in.
 */
export const exportForms = ['model', 'adapter', 'gguf-f32', 'gguf-f16', 'gguf-q8_0'] as const;
export type ExportForm = (typeof exportForms)[number];

interface Exported {
  /** Adapters merged in. */
  model: StoredModel;
  lora: { config: LoraConfig; adapters: Parameters } | undefined;
  /** Where the model came from. */
  base: string;
}

/** @throws {EngineError} `adapter_missing`, and what the writers of the forms throw */
export async function exportModel(target: string, form: ExportForm, { model, lora, base }: Exported): Promise<void> {
  switch (form) {
    case 'model':
      return saveModelFolder(target, model);
    case 'adapter':
      if (lora === undefined) throw noAdapter();
      return saveAdapterFolder(target, { config: model.config, lora: lora.config, adapters: lora.adapters, base });
    case 'gguf-f32':
      return saveGguf(target, model, 'F32');
    case 'gguf-f16':
      return saveGguf(target, model, 'F16');
    case 'gguf-q8_0':
      return saveGguf(target, model, 'Q8_0');
  }
}

function noAdapter(): EngineError {
  return new EngineError({
    code: 'adapter_missing',
    message: 'There are no adapters to export: this engine trains all weights.',
    hint: 'Export the model, or create the engine with `lora`.',
    category: 'user',
  });
}
