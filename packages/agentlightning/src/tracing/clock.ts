import type { Span } from '../store/types.ts';

/** Set by the receiver on spans whose clock is far from ours: what it was ahead (or, below 0, behind), in milliseconds. */
const skewAttribute = 'agentlightning.clock_skew_ms';
/** Exporters may hold spans back for minutes; more than this is no delay. */
const toleranceMs = 60 * 60 * 1000;

/** The span, marked when it ended at another time than it can have; it is kept, and no join by time uses it. */
export function markSkew(span: Span, now: number): Span {
  const skewMs = Math.round(span.endedAt - now);
  if (Math.abs(skewMs) <= toleranceMs) return span;
  return { ...span, attributes: { ...span.attributes, [skewAttribute]: skewMs } };
}

export function hasSkew({ attributes }: Span): boolean {
  return attributes[skewAttribute] !== undefined;
}
