/**
 * Receives OpenTelemetry traces and logs (OTLP over HTTP) and the events of the Python project's 1.0, and finds the rewards
 * in them. It knows the store, and nothing of HTTP servers, sessions or who learns from what it keeps.
 */
export type { Signal } from './batch.ts';
export { receiveEvent } from './event.ts';
export { failureBody, receiveOtlp } from './receive.ts';
export { TracingError } from './tracing-error.ts';
