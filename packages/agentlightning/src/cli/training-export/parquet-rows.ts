import type { SchemaElement } from 'hyparquet';
import { PartialFile } from '../../store/archive/index.ts';
import type { RowWriter } from './files.ts';

/** Type of a column. `json` is text with JSON in it, for what has no one shape. */
export type Shape = 'text' | 'json' | 'real' | 'int32' | { list: Shape } | { fields: { [name: string]: Shape } };

/** What a reader has to hold at once. */
const groupRows = 1000;

const leaves = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  real: { type: 'DOUBLE' },
  int32: { type: 'INT32' },
} as const satisfies { [shape: string]: Partial<SchemaElement> };

/** A Parquet file with nested columns, a row group after the other. Missing values are null. */
export async function parquetWriter(path: string, columns: { [name: string]: Shape }): Promise<RowWriter> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const file = await PartialFile.create(path);
  const bytes = new ByteWriter();
  const names = Object.keys(columns);
  const root: SchemaElement = { name: 'schema', num_children: names.length };
  const schema = [root, ...Object.entries(columns).flatMap(([name, shape]) => elements(name, shape))];
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'agentlightning' });
  let pending: object[] = [];

  /** The writer's buffer starts anew; its offset goes on. */
  async function handOver(): Promise<void> {
    await file.append(bytes.getBytes().slice());
    bytes.index = 0;
  }
  async function writeGroup(): Promise<void> {
    if (pending.length === 0) return;
    const rows = pending.map((row) => asShape(row, { fields: columns }) as { [name: string]: unknown });
    pending = [];
    const columnData = names.map((name) => ({ name, data: rows.map((row) => row[name]) }));
    await writer.write({ columnData, rowGroupSize: rows.length });
    await handOver();
  }
  return {
    write: async (rows) => {
      for (const row of rows) {
        pending.push(row);
        if (pending.length >= groupRows) await writeGroup();
      }
    },
    finish: async () => {
      await writeGroup();
      await writer.finish();
      await handOver();
      await file.finish();
    },
    discard: () => file.discard(),
  };
}

/** https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists: three levels. */
function elements(name: string, shape: Shape): SchemaElement[] {
  const optional = { name, repetition_type: 'OPTIONAL' } as const;
  if (typeof shape === 'string') return [{ ...optional, ...leaves[shape] }];
  if ('list' in shape) {
    const middle = { name: 'list', repetition_type: 'REPEATED', num_children: 1 } as const;
    return [{ ...optional, converted_type: 'LIST', num_children: 1 }, middle, ...elements('element', shape.list)];
  }
  const fields = Object.entries(shape.fields);
  return [{ ...optional, num_children: fields.length }, ...fields.flatMap(([field, inner]) => elements(field, inner))];
}

/** A value with exactly the fields of its shape. */
function asShape(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return null;
  if (shape === 'json') return JSON.stringify(value);
  if (shape === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof shape === 'string') return value;
  if ('list' in shape) return (value as unknown[]).map((item) => asShape(item, shape.list));
  const own = value as { [name: string]: unknown };
  return Object.fromEntries(Object.entries(shape.fields).map(([name, inner]) => [name, asShape(own[name], inner)]));
}
