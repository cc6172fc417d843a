import { z } from 'zod';
import { fromLittleEndian, toLittleEndian } from '../blobs.ts';

const elementBytes = 4;

/** Base64 of 32-bit little-endian whole numbers: `numpy.frombuffer(base64.b64decode(text), '<i4')`. */
export const tokenIds = z.codec(
  z.base64().meta({ contentEncoding: 'base64', description: 'int32, little-endian' }),
  z.instanceof(Int32Array),
  {
    decode: (text, context) => new Int32Array(bytesOf(text, context)),
    encode: (ids) => textOf(ids),
  },
);

/** Base64 of 32-bit little-endian floats (nats); every bit pattern survives. */
export const logProbs = z.codec(
  z.base64().meta({ contentEncoding: 'base64', description: 'float32, little-endian, nats' }),
  z.instanceof(Float32Array),
  {
    decode: (text, context) => new Float32Array(bytesOf(text, context)),
    encode: (values) => textOf(values),
  },
);

function textOf(values: Int32Array | Float32Array): string {
  const bytes = toLittleEndian(values);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function bytesOf(text: string, context: z.core.ParsePayload): ArrayBuffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % elementBytes === 0) return fromLittleEndian(bytes);
  const message = `has ${bytes.length} bytes, which is no multiple of ${elementBytes}`;
  context.issues.push({ code: 'custom', message, input: text });
  return new ArrayBuffer(0);
}
