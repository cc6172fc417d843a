import type { Json, JsonObject } from '../store/types.ts';

/** What instrumentations write is not to be trusted in shape: each of these gives nothing instead of failing. */
export function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter((item): item is JsonObject => objectOf(item) !== null);
}

/** A text that is not empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function firstText(...values: unknown[]): string | null {
  for (const value of values) {
    const text = textOf(value);
    if (text !== null) return text;
  }
  return null;
}

/** Some instrumentations write numbers as texts. */
export function numberOf(value: unknown): number | null {
  if (typeof value !== 'number' && !textOf(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

export function firstNumber(...values: unknown[]): number | null {
  for (const value of values) {
    const number = numberOf(value);
    if (number !== null) return number;
  }
  return null;
}

/** Attributes hold structures as JSON texts; what is no JSON stays the text it is. */
export function parsed(value: unknown): Json | undefined {
  if (typeof value !== 'string') return value as Json | undefined;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}

/** A text as it is, everything else as JSON. */
export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
