import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../store/types.ts';
import { createJsonSchemaGrader, type JsonSchemaSpec, jsonSchemaRequirements } from './json-schema.ts';
import { noModel } from './no-model.test.support.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
};

const grade = (spec: JsonSchemaSpec, output: string | null, hidden: JsonObject = {}) =>
  createJsonSchemaGrader(spec).grade({
    attemptId: 'a',
    task: { id: 't', input: {}, private: hidden },
    output,
    failure: null,
    workspace: null,
    ...noModel,
    calls: [],
    signal: new AbortController().signal,
  });

describe('json-schema', () => {
  it.each([
    ['{"city": "Rome", "days": 2}', 1],
    ['{"city": "Rome", "days": 0}', 0],
    ['{"days": 2}', 0],
    ['{"city": "Rome", "extra": null}', 0],
    ['```json\n{"city": "Rome"}\n```', 0],
    ['', 0],
    [null, 0],
  ])('%j scores %d', async (output, reward) => {
    expect(await grade({ jsonSchema: schema }, output)).toBe(reward);
  });

  it("uses the task's own schema where the configuration names a field", async () => {
    const spec = { jsonSchema: 'shape' };
    expect(await grade(spec, '3', { shape: { type: 'integer' } })).toBe(1);
    expect(await grade(spec, '3', { shape: { type: 'string' } })).toBe(0);
  });

  it('finds a schema that is none before anything runs', () => {
    const [requirement] = jsonSchemaRequirements({ jsonSchema: 'shape' });
    expect(requirement?.field).toBe('shape');
    expect(requirement?.check?.({ type: 'integer' })).toBeNull();
    expect(requirement?.check?.({ type: 'whole' })).toMatch(/is no JSON schema/);
    expect(requirement?.check?.('integer')).toMatch(/must be an object/);
    expect(() => createJsonSchemaGrader({ jsonSchema: { type: 'whole' } })).toThrow(/type/);
  });

  it('fails itself, not the agent, on a schema that is none', async () => {
    await expect(grade({ jsonSchema: 'shape' }, '3', {})).rejects.toMatchObject({ code: 'grader_crash' });
  });
});
