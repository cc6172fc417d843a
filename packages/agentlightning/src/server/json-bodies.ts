import type { FastifyInstance } from 'fastify';
import { assertDepth, RequestError } from '../gateway/index.ts';
import { StoreRequestError } from '../store/http/wire-errors.ts';
import type { Json } from '../store/types.ts';

/** The request around a call's own body, which the gateway took at full depth. */
const envelopeDepth = 10;

interface Fault {
  code: 'invalid_utf8' | 'invalid_json';
  status: 400;
  message: string;
  hint: string;
  cause: unknown;
}

/** For the store's API. */
export const storeBodies = (api: FastifyInstance): void => jsonBodies(api, (fault) => new StoreRequestError(fault));

/** For what agents report. */
export const agentBodies = (api: FastifyInstance): void => jsonBodies(api, (fault) => new RequestError(fault));

/** JSON alone, read as it is: a recorded body may have any key, `__proto__` too, and no byte becomes another. */
function jsonBodies(api: FastifyInstance, refusal: (fault: Fault) => Error): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) => {
    try {
      parsed(null, read(body as Buffer, refusal));
    } catch (error) {
      parsed(error as Error);
    }
  });
}

function read(body: Buffer, refusal: (fault: Fault) => Error): Json {
  const value = parse(decode(body, refusal), refusal);
  assertDepth(value, -envelopeDepth);
  return value;
}

function decode(body: Buffer, refusal: (fault: Fault) => Error): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw refusal({
      code: 'invalid_utf8',
      status: 400,
      message: 'The request body is not valid UTF-8.',
      hint: 'Send JSON in UTF-8; bytes that are no text belong into base64.',
      cause,
    });
  }
}

function parse(text: string, refusal: (fault: Fault) => Error): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw refusal({
      code: 'invalid_json',
      status: 400,
      message: `The request body is not JSON: ${(cause as Error).message}.`,
      hint: 'JSON has no NaN and no Infinity; a missing number is null.',
      cause,
    });
  }
}
