import { EngineError } from '../../errors.ts';
import { ggufInvalid } from './header.ts';
import type { GgufReader } from './reader.ts';

/** Typed access to a file's metadata; keys are given without the architecture in front of them. */
export class GgufMetadata {
  readonly path: string;
  readonly architecture: string;
  private readonly values: GgufReader['metadata'];

  constructor({ metadata, path }: Pick<GgufReader, 'metadata' | 'path'>) {
    this.path = path;
    this.values = metadata;
    this.architecture = this.text('general.architecture') ?? '';
  }

  /** Of the model: `block_count` is `llama.block_count`. @throws {EngineError} `gguf_invalid` */
  model(key: string): number {
    const value = this.optionalModel(key);
    if (value === undefined) throw ggufInvalid(this.path, `it has no number "${this.architecture}.${key}"`);
    return value;
  }

  optionalModel(key: string): number | undefined {
    return this.number(`${this.architecture}.${key}`);
  }

  number(key: string): number | undefined {
    const value = this.values.get(key);
    // Some files hold one number for each layer; models whose layers differ in size are not among the families.
    const first = Array.isArray(value) ? (value as readonly unknown[])[0] : value;
    return typeof first === 'number' ? first : undefined;
  }

  text(key: string): string | undefined {
    const value = this.values.get(key);
    return typeof value === 'string' ? value : undefined;
  }

  flag(key: string): boolean | undefined {
    const value = this.values.get(key);
    return typeof value === 'boolean' ? value : undefined;
  }

  texts(key: string): string[] | undefined {
    const value = this.values.get(key);
    return Array.isArray(value) ? value.map(String) : undefined;
  }

  numbers(key: string): number[] | undefined {
    const value = this.values.get(key);
    return Array.isArray(value) ? value.map(Number) : undefined;
  }

  unsupported(what: string, supported: string): EngineError {
    return new EngineError({
      code: 'model_unsupported',
      message: `${this.path}: ${what}; supported is ${supported}.`,
      hint: 'Choose another model, or the same one as a folder of safetensors with its tokenizer.json.',
      category: 'user',
    });
  }
}
