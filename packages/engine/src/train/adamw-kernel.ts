import { type AdamWMoments, type AdamWUpdate, adamWFactors, adamWPlain } from './adamw.ts';
import { adamWModule, chunkFloats, lanes } from './adamw-module.ts';

type Kernel = (parameter: Float32Array, gradient: Float32Array, moments: AdamWMoments, update: AdamWUpdate) => void;

/** What this file uses of the API that TypeScript declares for browsers only. */
interface WasmApi {
  validate: (module: Uint8Array) => boolean;
  Module: new (module: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}
const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: WasmApi };

/** The WebAssembly kernel, or the plain loop where the machine has no SIMD. Both give the same bits. */
export const adamWUpdate: Kernel = wasm.validate(adamWModule) ? wasmKernel() : adamWPlain;

function wasmKernel(): Kernel {
  const { memory, update } = new wasm.Instance(new wasm.Module(adamWModule)).exports as {
    memory: { buffer: ArrayBuffer };
    update: (floats: number, ...factors: number[]) => void;
  };
  const [p, g, m, v] = [0, 1, 2, 3].map(
    (array) => new Float32Array(memory.buffer, array * 4 * chunkFloats, chunkFloats),
  ) as [Float32Array, Float32Array, Float32Array, Float32Array];
  return (parameter, gradient, { first, second }, options) => {
    const f = adamWFactors(options);
    // The chunks stay in the CPU's cache, so copying them costs little beside the arithmetic.
    for (let from = 0; from < parameter.length; from += chunkFloats) {
      const to = Math.min(parameter.length, from + chunkFloats);
      const floats = to - from;
      const own = [parameter.subarray(from, to), first.subarray(from, to), second.subarray(from, to)] as const;
      p.set(own[0]);
      g.set(gradient.subarray(from, to));
      m.set(own[1]);
      v.set(own[2]);
      const whole = Math.ceil(floats / lanes) * lanes; // what lies behind the last float is never read back
      update(whole, f.gradientScale, f.beta1, f.rest1, f.beta2, f.rest2, f.stepSize, f.secondCorrection, f.eps, f.kept);
      own[0].set(p.subarray(0, floats));
      own[1].set(m.subarray(0, floats));
      own[2].set(v.subarray(0, floats));
    }
  };
}
