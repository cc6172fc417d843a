import type { FastifyInstance } from 'fastify';
import { assertDepth } from '../gateway/index.ts';
import { StoreRequestError } from '../store/http/wire-errors.ts';
import type { Json } from '../store/types.ts';

/** The request around a call's own body, which the gateway took at full depth. */
const envelopeDepth = 10;

/** JSON alone, read as it is: a recorded body may have any key, `__proto__` too. */
export function storeBodies(api: FastifyInstance): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) => {
    try {
      parsed(null, read(body as Buffer));
    } catch (error) {
      parsed(error as Error);
    }
  });
}

function read(body: Buffer): Json {
  const value = parse(decode(body));
  assertDepth(value, -envelopeDepth);
  return value;
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new StoreRequestError({
      code: 'invalid_utf8',
      status: 400,
      message: 'The request body is not valid UTF-8.',
      hint: 'Send JSON in UTF-8; bytes that are no text belong into base64.',
      cause,
    });
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new StoreRequestError({
      code: 'invalid_json',
      status: 400,
      message: `The request body is not JSON: ${(cause as Error).message}.`,
      hint: 'JSON has no NaN and no Infinity; a missing number is null.',
      cause,
    });
  }
}
