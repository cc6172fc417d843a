import { z } from 'zod';
import { algorithms } from '../algorithms/index.ts';
import { text } from './fields.ts';

type BuiltIn = (typeof algorithms)[number];
type OutputOf<A extends BuiltIn> = A extends BuiltIn ? z.output<A['options']> & { name: A['name'] } : never;
type InputOf<A extends BuiltIn> = A extends BuiltIn ? z.input<A['options']> & { name?: A['name'] } : never;

/** The user's own: its options are checked when the module has been loaded. */
const own = z.looseObject({ module: text, export: text.default('algorithm') });

export type OwnAlgorithm = z.output<typeof own>;
export type AlgorithmConfig = OutputOf<BuiltIn> | OwnAlgorithm;

const named = ({ name, options }: BuiltIn, index: number) => {
  const literal = z.literal(name);
  // The first of the table needs no name.
  return options.extend({ name: index === 0 ? literal.default(name) : literal });
};

/** `algorithm`: which one, and its options. */
export const algorithm = z
  .union([...algorithms.map(named), own])
  .prefault({ name: algorithms[0].name }) as unknown as z.ZodType<
  AlgorithmConfig,
  InputOf<BuiltIn> | z.input<typeof own> | undefined
>;
