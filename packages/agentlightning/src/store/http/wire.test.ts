import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { IllegalTransitionError, NotFoundError, StoreError } from '../errors.ts';
import { logProbs, tokenIds } from './binary.ts';
import { fromQuery, toQuery } from './query-string.ts';
import { storeVerbs } from './verbs.ts';
import { fromErrorBody, StoreRequestError, statusOf, toErrorBody } from './wire-errors.ts';

describe('arrays of numbers', () => {
  it('are base64 of little-endian 32-bit values', () => {
    expect(z.encode(tokenIds, Int32Array.of(1, -1, 256))).toBe('AQAAAP////8AAQAA');
    expect(z.encode(logProbs, Float32Array.of(-1, 0.5))).toBe('AACAvwAAAD8=');
    expect(z.decode(tokenIds, 'AQAAAP////8AAQAA')).toEqual(Int32Array.of(1, -1, 256));
    expect(z.encode(tokenIds, new Int32Array(0))).toBe('');
  });

  it('keep every bit, also of a view into a larger buffer', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), fc.nat(3), (bits, from) => {
        const ids = Int32Array.from(bits).subarray(Math.min(from, bits.length));
        expect(z.decode(tokenIds, z.encode(tokenIds, ids))).toEqual(Int32Array.from(ids));
        const floats = new Float32Array(Int32Array.from(bits).buffer);
        const back = z.decode(logProbs, z.encode(logProbs, floats));
        expect(new Int32Array(back.buffer)).toEqual(Int32Array.from(bits));
      }),
    );
  });
});

describe('a query', () => {
  it('brings back whatever was put into it', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue(),
      fc.constantFrom('null', '12', 'true', '"a"', '\ud800'),
    );
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
          value,
        ),
        (request) => {
          const read = Object.fromEntries(new URLSearchParams(toQuery(request)));
          expect(fromQuery(read, () => true)).toEqual(JSON.parse(JSON.stringify(request)));
        },
      ),
    );
  });

  it('may be written by hand: a text that looks like a number is the text where a text belongs', () => {
    const takesText = (_: string, value: unknown): boolean => typeof value === 'string';
    expect(fromQuery({ id: '123', name: '"123"', other: 'abc' }, takesText)).toEqual({
      id: '123',
      name: '123',
      other: 'abc',
    });
  });
});

describe('an error', () => {
  const step = { machine: 'rollout', id: 'r', state: 'queued', event: 'requeue', allowed: ['claim', 'cancel'] };
  it.each([
    [new NotFoundError('rollout', 'r'), 404],
    [new IllegalTransitionError(step), 409],
    [new StoreError({ code: 'not_lease_holder', category: 'user', message: 'm', hint: 'h' }), 409],
    [new StoreError({ code: 'store_unavailable', message: 'm', retryable: true }), 503],
    [new StoreRequestError({ code: 'invalid_value', status: 400, field: 'a[1].b', message: 'm' }), 400],
  ])('is itself again on the other side: %s', (error, status) => {
    expect(statusOf(error)).toBe(status);
    const back = fromErrorBody(
      JSON.parse(JSON.stringify(toErrorBody(error))) as ReturnType<typeof toErrorBody>,
      status,
    );
    expect(back.constructor).toBe(error.constructor);
    expect({ ...back, message: back.message }).toEqual({ ...error, message: error.message });
  });

  it('of another kind is a refusal with its code', () => {
    const back = fromErrorBody(toErrorBody(new UserError({ code: 'odd', message: 'm' })), 500);
    expect(back).toMatchObject({ name: 'StoreRequestError', code: 'odd', message: 'm', category: 'user' });
  });
});

it('a grader may ask for no more than one attempt, its calls and its task', () => {
  const open = Object.entries(storeVerbs).flatMap(([name, { scope }]) => (scope === 'grader' ? [name] : []));
  expect(open).toEqual(['getTask', 'getRollout', 'getAttempt', 'listCalls', 'addReward', 'listRewards']);
  const written = Object.entries(storeVerbs).filter(
    ([, { scope, method }]) => scope === 'controller' && method === 'POST',
  );
  expect(written.map(([name]) => name)).toEqual([
    ...['claimRollouts', 'heartbeat', 'finishAttempt', 'expireLeases'],
    ...['registerWorker', 'heartbeatWorker', 'leaveWorker'],
  ]);
});
