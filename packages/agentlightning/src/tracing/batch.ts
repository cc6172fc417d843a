import type { ReportedSpan, Span } from '../store/types.ts';
import { attributes } from './attributes.ts';
import { FieldError, list, type Message, message, text } from './fields.ts';
import { readLogRecord } from './logs.ts';
import { rewardsOf } from './rewards.ts';
import { type Origin, readSpan } from './spans.ts';

/** What OTLP calls a signal, as it stands in the path. */
export type Signal = 'traces' | 'logs';

export interface Batch {
  spans: ReportedSpan[];
  /** One line for each span or record that cannot be kept: where it is, and why. */
  rejected: string[];
}

interface Shape {
  resources: string;
  scopes: string;
  items: string;
  read(item: Message, origin: Origin): Span;
}

export const shapes: Record<Signal, Shape> = {
  traces: { resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans', read: readSpan },
  logs: { resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords', read: readLogRecord },
};

/** Reads an export request in OTLP's JSON form. Whatever cannot be read is left out, its neighbours are not. */
export function readBatch(request: Message, signal: Signal, attemptId: string): Batch {
  const { resources, scopes, items, read } = shapes[signal];
  const batch: Batch = { spans: [], rejected: [] };
  const attempt = (place: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      batch.rejected.push(`${place}: ${error.message}`);
    }
  };
  const each = (value: unknown, field: string, visit: (item: Message, place: string) => void): void => {
    attempt(field, () => {
      for (const [index, item] of list(value, field).entries()) {
        const place = `${field}[${index}]`;
        attempt(place, () => visit(message(item, place), place));
      }
    });
  };

  each(request[resources], resources, (group, place) => {
    const resource = attributes(message(group.resource, 'resource').attributes, 'resource.attributes');
    each(group[scopes], `${place}.${scopes}`, (scoped, scopePlace) => {
      const scope = text(message(scoped.scope, 'scope').name, 'scope.name') || null;
      each(scoped[items], `${scopePlace}.${items}`, (item) => {
        const span = read(item, { attemptId, resource, scope });
        batch.spans.push({ span, rewards: rewardsOf(span) });
      });
    });
  });
  return batch;
}
