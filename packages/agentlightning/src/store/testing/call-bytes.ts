import type { Call } from '../types.ts';

/** A text that is equal for two calls exactly when every byte of them is: order of JSON keys, NaN payloads and all. */
export function callBytes(call: Call): string {
  const fields = Object.entries(call).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(fields, (_key, value: unknown) => (ArrayBuffer.isView(value) ? hex(value) : value));
}

function hex(view: ArrayBufferView): string {
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return `${view.constructor.name}:${bytes.toString('hex')}`;
}
