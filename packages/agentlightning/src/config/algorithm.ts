import { z } from 'zod';
import { algorithms } from '../algorithms/index.ts';
import { text } from './fields.ts';

type BuiltIn = (typeof algorithms)[number];
type OutputOf<A extends BuiltIn> = A extends BuiltIn ? z.output<A['options']> & { name: A['name'] } : never;
type InputOf<A extends BuiltIn> = A extends BuiltIn ? z.input<A['options']> & { name?: A['name'] } : never;

/** The user's own: its options are checked when the module has been loaded. */
const own = z.looseObject({ module: text, export: text.default('algorithm') });

export type OwnAlgorithm = z.output<typeof own>;
export type OneAlgorithm = OutputOf<BuiltIn> | OwnAlgorithm;
type OneInput = InputOf<BuiltIn> | z.input<typeof own>;
/** A list runs one after another. */
export type AlgorithmConfig = OneAlgorithm | OneAlgorithm[];

const named = ({ name, options }: BuiltIn, index: number) => {
  const literal = z.literal(name);
  // The first of the table needs no name.
  return options.extend({ name: index === 0 ? literal.default(name) : literal });
};

const one = z.union([...algorithms.map(named), own]);

/** `algorithm`: which one, and its options; or several, one after another. */
export const algorithm = z
  .union([...one.options, z.array(one).min(1)])
  .prefault({ name: algorithms[0].name }) as unknown as z.ZodType<AlgorithmConfig, OneInput | OneInput[] | undefined>;

/** The algorithms of a configuration, in their order. */
export const algorithmsOf = (config: AlgorithmConfig): OneAlgorithm[] => (Array.isArray(config) ? config : [config]);
