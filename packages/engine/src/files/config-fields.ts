import { EngineError } from '../errors.ts';
import { isJsonObject, type JsonObject } from './text-file.ts';

/** Reads a config.json field by field; what is wrong is said with the file's path, the field and its value. */
export class ConfigFields {
  readonly json: JsonObject;
  readonly path: string;

  constructor(json: JsonObject, path: string) {
    this.json = json;
    this.path = path;
  }

  /** @throws {EngineError} `model_config_invalid` */
  size(field: string, fallback?: number): number {
    const value = this.json[field] ?? fallback;
    if (value === undefined) throw this.invalid(`${field} is missing.`);
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      throw this.invalid(`${field} is ${JSON.stringify(value)}, but must be a whole number of at least 1.`);
    return value as number;
  }

  /** @throws {EngineError} `model_config_invalid` */
  number(field: string, fallback?: unknown): number {
    const value = this.json[field] ?? fallback;
    if (typeof value !== 'number' || !(value > 0))
      throw this.invalid(`${field} is ${JSON.stringify(value)}, but must be a number above 0.`);
    return value;
  }

  /** Undefined when absent or null. @throws {EngineError} `model_config_invalid` */
  optionalNumber(field: string): number | undefined {
    return (this.json[field] ?? undefined) === undefined ? undefined : this.number(field);
  }

  object(field: string): JsonObject {
    const value = this.json[field];
    return isJsonObject(value) ? value : {};
  }

  /**
   * A field that may be absent or null, or must have one of these values.
   * @throws {EngineError} `model_unsupported`
   */
  mustBe(field: string, ...values: readonly (string | boolean | null)[]): void {
    const found = this.json[field] ?? values[0];
    if (!values.includes(found as string))
      throw this.unsupported(field, values.map((v) => JSON.stringify(v)).join(' or '));
  }

  unsupported(field: string, supported: string, found: unknown = this.json[field]): EngineError {
    return new EngineError({
      code: 'model_unsupported',
      message: `${this.path}: ${field} is ${JSON.stringify(found)}; supported is ${supported}.`,
      hint: 'Choose a model without this feature, for instance SmolLM2-135M-Instruct or Qwen2.5-0.5B-Instruct.',
      category: 'user',
    });
  }

  invalid(problem: string, cause?: unknown): EngineError {
    return new EngineError({
      code: 'model_config_invalid',
      message: `${this.path}: ${problem}`,
      hint: 'Correct the field in config.json, or copy or download the file again.',
      category: 'user',
      cause,
    });
  }
}
