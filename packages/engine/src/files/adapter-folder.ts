import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../errors.ts';
import { type LoraConfig, loraShapes, type ModelConfig, type Parameters } from '../model/index.ts';
import { writeFolderAtomic } from './atomic.ts';
import { familyOf } from './families/index.ts';
import { transposed } from './matrix-layout.ts';
import { type WritableTensor, writeSafetensors } from './safetensors-writer.ts';

interface Adapter {
  config: ModelConfig;
  lora: LoraConfig;
  /** In memory's layout: A is [in, rank], B is [rank, out]. */
  adapters: Parameters;
  /** Name or folder of the model that the adapters were trained on, for `base_model_name_or_path`. */
  base: string;
}

/**
 * Writes low-rank adapters as Hugging Face PEFT keeps them: `adapter_config.json` and `adapter_model.safetensors`
 * (https://huggingface.co/docs/peft/developer_guides/checkpoint). vLLM and SGLang load the same folder.
 *
 * @throws {EngineError} `adapter_unsupported`, `disk_full`, `path_not_writable`, `write_failed`
 */
export async function saveAdapterFolder(folder: string, { config, lora, adapters, base }: Adapter): Promise<void> {
  if (familyOf(config).fused !== undefined) throw fusedMatrices(familyOf(config).architecture);
  const tensors = new Map<string, WritableTensor>();
  for (const [name, [rows, columns]] of loraShapes(config, lora)) {
    const data = () => transposed(adapters.get(name)!, rows!, columns!);
    tensors.set(`base_model.model.${name}`, { shape: [columns!, rows!], data });
  }
  const settings = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    target_modules: [...lora.targets],
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    use_rslora: false,
    use_dora: false,
  };
  await writeFolderAtomic(folder, async (staging) => {
    await writeFile(join(staging, 'adapter_config.json'), `${JSON.stringify(settings, null, 2)}\n`);
    await writeSafetensors(join(staging, 'adapter_model.safetensors'), tensors, { metadata: { format: 'pt' } });
  });
}

function fusedMatrices(architecture: string): EngineError {
  return new EngineError({
    code: 'adapter_unsupported',
    message: `The adapters of a ${architecture} stand on single matrices, which its own files keep fused; PEFT has no place for them.`,
    hint: 'Export the merged model instead.',
    category: 'user',
  });
}
