/**
 * The inner loop of AdamW as a WebAssembly module: four float32 at a time, operation by operation what `adamWPlain` computes, so
 * both give the same bits. Encoding: https://webassembly.github.io/spec/core/binary
 *
 * Exports `memory` and `update(floats, gradientScale, beta1, rest1, beta2, rest2, stepSize, secondCorrection, eps, kept)`, where
 * `rest` is 1 − β. The parameter, gradient, first and second moment lie one after another, each `chunkFloats` long; `floats` is a multiple of `lanes`.
 */
export const chunkFloats = 16_384;
export const lanes = 4;
const pages = (4 * 4 * chunkFloats) / 65_536;

const [i32, f32, v128] = [0x7f, 0x7d, 0x7b] as const;
const [parameter, gradient, first, second] = [0, 1, 2, 3] as const;

/** Indices of the function's arguments and locals. */
const names = [
  'floats',
  'gradientScale',
  'beta1',
  'rest1',
  'beta2',
  'rest2',
  'stepSize',
  'secondCorrection',
  'eps',
  'kept',
  'offset',
  'g',
  'm',
  'v',
] as const;
type Name = (typeof names)[number];

const simd = (code: number) => [0xfd, ...unsigned(code)];
const get = (name: Name) => [0x20, names.indexOf(name)];
const set = (name: Name) => [0x21, names.indexOf(name)];
const splat = (name: Name) => [...get(name), ...simd(0x13)];
const multiply = (...factors: number[][]) => chain(factors, simd(0xe6));
const add = (...terms: number[][]) => chain(terms, simd(0xe4));
const subtract = (a: number[], b: number[]) => chain([a, b], simd(0xe5));
const divide = (a: number[], b: number[]) => chain([a, b], simd(0xe7));
const squareRoot = (a: number[]) => [...a, ...simd(0xe3)];

/** Alignment hint: 2⁴ bytes. */
const aligned = 4;
const load = (array: number) => [...get('offset'), ...simd(0x00), aligned, ...address(array)];
const store = (array: number, value: number[]) => [
  ...get('offset'),
  ...value,
  ...simd(0x0b),
  aligned,
  ...address(array),
];

const step = [
  ...multiply(load(gradient), splat('gradientScale')),
  ...set('g'),
  ...add(multiply(splat('beta1'), load(first)), multiply(splat('rest1'), get('g'))),
  ...set('m'),
  ...add(multiply(splat('beta2'), load(second)), multiply(splat('rest2'), get('g'), get('g'))),
  ...set('v'),
  ...store(first, get('m')),
  ...store(second, get('v')),
  ...store(
    parameter,
    subtract(
      multiply(load(parameter), splat('kept')),
      divide(
        multiply(splat('stepSize'), get('m')),
        add(squareRoot(multiply(get('v'), splat('secondCorrection'))), splat('eps')),
      ),
    ),
  ),
];

const advance = [...get('offset'), 0x41, 4 * lanes, 0x6a, ...set('offset')];
const goesOn = [...get('offset'), ...get('floats'), 0x41, 2, 0x74, 0x49]; // offset < floats · 4, unsigned
const body = [
  ...[2, 1, i32, 3, v128], // locals: offset; g, m, v
  ...[0x03, 0x40], // loop
  ...step,
  ...advance,
  ...goesOn,
  ...[0x0d, 0, 0x0b, 0x0b], // branch back, end of the loop, end of the function
];

export const adamWModule: Uint8Array<ArrayBuffer> = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 10, i32, ...Array<number>(9).fill(f32), 0]),
  ...section(3, [1, 0]),
  ...section(5, [1, 0, ...unsigned(pages)]),
  ...section(7, [2, ...text('update'), 0, 0, ...text('memory'), 2, 0]),
  ...section(10, [1, ...unsigned(body.length), ...body]),
]);

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function chain(operands: number[][], operation: number[]): number[] {
  return operands.flatMap((operand, index) => (index === 0 ? operand : [...operand, ...operation]));
}

function address(array: number): number[] {
  return unsigned(array * 4 * chunkFloats);
}

function text(value: string): number[] {
  return [value.length, ...Buffer.from(value)];
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}
