import { InvalidArgumentError } from 'commander';

/** For options that take a number: a mistake names the option and is a usage error. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('expected a number');
  return value;
}

export function positive(text: string): number {
  const value = number(text);
  if (value <= 0) throw new InvalidArgumentError('expected a number above 0');
  return value;
}

export function wholeNumber(text: string): number {
  const value = number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('expected a whole number from 0 on');
  return value;
}

export function positiveWhole(text: string): number {
  const value = wholeNumber(text);
  if (value === 0) throw new InvalidArgumentError('expected a whole number above 0');
  return value;
}

export function port(text: string): number {
  const value = wholeNumber(text);
  if (value > 65_535) throw new InvalidArgumentError('expected a port, 0 to 65535');
  return value;
}
