import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchIdle } from './idle-watch.ts';
import type { CallActivity } from './sessions.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function watched() {
  const state = { idle: 0, calls: { underWay: 0, lastAt: null } as CallActivity | null };
  const watch = watchIdle({ afterMs: 100, now: Date.now, calls: () => state.calls, onIdle: () => (state.idle += 1) });
  return { state, watch };
}

it('tells an agent that never shows a sign of life, once', () => {
  const { state } = watched();
  vi.advanceTimersByTime(99);
  expect(state.idle).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.idle).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(state.idle).toBe(1);
});

it('counts from what was printed last', () => {
  const { state, watch } = watched();
  for (let round = 0; round < 5; round += 1) {
    vi.advanceTimersByTime(90);
    watch.heard();
  }
  vi.advanceTimersByTime(99);
  expect(state.idle).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.idle).toBe(1);
});

it('counts from the end of the last call, and never during one', () => {
  const { state } = watched();
  state.calls = { underWay: 1, lastAt: Date.now() };
  vi.advanceTimersByTime(10_000);
  state.calls = { underWay: 0, lastAt: Date.now() };
  vi.advanceTimersByTime(99);
  expect(state.idle).toBe(0);
  vi.advanceTimersByTime(100);
  expect(state.idle).toBe(1);
});

it('says nothing after it was stopped', () => {
  const { state, watch } = watched();
  watch.stop();
  vi.advanceTimersByTime(1000);
  expect(state.idle).toBe(0);
});
