// The model as transformers and llama.cpp read it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine, setting } from './setting.mjs';

mkdirSync(setting.forms, { recursive: true });
const engine = await openEngine({ lora: undefined });
await engine.export(join(setting.forms, 'model'));
for (const form of ['gguf-f32', 'gguf-q8_0']) await engine.export(join(setting.forms, `${form}.gguf`), form);
await engine.close();
