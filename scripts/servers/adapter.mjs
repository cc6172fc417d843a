import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const rank = 4;
const hidden = 128;

/** A LoRA adapter for the calculator's model as PEFT writes it, its weights small waves: they move every log prob a little. */
export function writeAdapter(folder) {
  const config = {
    ...{ peft_type: 'LORA', task_type: 'CAUSAL_LM', base_model_name_or_path: 'calc', bias: 'none' },
    ...{ r: rank, lora_alpha: 8, lora_dropout: 0, target_modules: ['q_proj'], fan_in_fan_out: false },
  };
  writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify(config));
  const name = 'base_model.model.model.layers.0.self_attn.q_proj';
  const tensors = { [`${name}.lora_A.weight`]: [rank, hidden], [`${name}.lora_B.weight`]: [hidden, rank] };
  const header = {};
  const parts = [];
  let at = 0;
  for (const [key, shape] of Object.entries(tensors)) {
    const values = Float32Array.from({ length: rank * hidden }, (_, index) => Math.sin(index + shape[0]) / 4);
    header[key] = { dtype: 'F32', shape, data_offsets: [at, at + values.byteLength] };
    at += values.byteLength;
    parts.push(Buffer.from(values.buffer));
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(join(folder, 'adapter_model.safetensors'), Buffer.concat([length, text, ...parts]));
}
