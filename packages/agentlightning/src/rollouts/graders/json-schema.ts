import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../store/types.ts';
import { type Grader, GraderError, type GraderRequirement } from './grader.ts';

export interface JsonSchemaSpec {
  /** A schema for all tasks, or the field of the task's private part that has the task's own. */
  jsonSchema: string | JsonObject;
}

/** 1 when the output is JSON that the schema (draft 2020-12) allows, else 0. */
export function createJsonSchemaGrader({ jsonSchema }: JsonSchemaSpec): Grader {
  const compiled = new Map<string, ValidateFunction>();
  const shared = typeof jsonSchema === 'string' ? null : compile(jsonSchema);

  function schemaOf(schema: Json | undefined): ValidateFunction {
    const key = JSON.stringify(schema);
    let validate = compiled.get(key);
    if (!validate) {
      validate = compile(schema);
      compiled.set(key, validate);
    }
    return validate;
  }

  return {
    name: 'json-schema',
    wantsCalls: false,
    async grade({ task, output }) {
      const validate = shared ?? schemaOf(task.private[String(jsonSchema)]);
      const value = parse(output);
      return value !== undefined && validate(value) ? 1 : 0;
    },
    close: () => Promise.resolve(),
  };
}

/** Of a configuration that names a field: every task must have a schema that can be used. */
export function jsonSchemaRequirements({ jsonSchema }: JsonSchemaSpec): GraderRequirement[] {
  if (typeof jsonSchema !== 'string') return [];
  return [{ field: jsonSchema, grader: 'json-schema', check: (schema) => fault(schema) }];
}

/** What is wrong with a schema, or null. */
function fault(schema: Json): string | null {
  try {
    compile(schema);
    return null;
  } catch (error) {
    return `is no JSON schema (${(error as Error).message})`;
  }
}

/** A compiler of its own for each: two schemas may have the same `$id`. */
function compile(schema: Json | undefined): ValidateFunction {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) {
    throw new GraderError('grader_crash', 'A JSON schema must be an object, true or false.');
  }
  return new Ajv2020({ strict: false, logger: false }).compile(schema);
}

function parse(output: string | null): unknown {
  try {
    return JSON.parse(output ?? '');
  } catch {
    return undefined;
  }
}
