import { EngineError } from '../errors.ts';
import type { OrtModule, OrtSessionOptions } from '../graph/index.ts';
import { disableRuntimeTelemetry } from './telemetry.ts';

export type BackendName = 'native' | 'wasm';

/** ONNX Runtime as it was found on this machine. */
export interface Backend {
  name: BackendName;
  ort: OrtModule;
  sessionOptions: OrtSessionOptions;
  /** What went wrong, when a slower backend had to be taken. */
  warning: string | undefined;
}

interface BackendOptions {
  /** Takes this one or fails; without it the environment variable AGL_ENGINE_BACKEND may say it, else native comes first. */
  force?: BackendName | undefined;
  /** Threads that compute. */
  threads: number;
  importNative?: () => Promise<OrtModule>;
}

/**
 * By default the idle threads of a session spin for long. On an idle machine 20 µs win the same; and where agents, gateway,
 * training and sampling share the cores, as they do here, long spinning costs more than half of the speed.
 */
const shortSpinning = { intra_op: { spin_duration_us: '20' } };

/**
 * Loads `onnxruntime-node`, or where its binary is missing `onnxruntime-web`, whose wasm runs anywhere.
 *
 * @throws {EngineError} `backend_missing` when the forced one cannot be loaded, `backend_unknown`
 */
export async function loadBackend(options: BackendOptions): Promise<Backend> {
  disableRuntimeTelemetry();
  const force = options.force ?? backendFromEnvironment();
  if (force === 'wasm') return loadWasm(options.threads, undefined);
  try {
    const ort = await (options.importNative ?? (() => import('onnxruntime-node')))();
    return {
      name: 'native',
      ort,
      sessionOptions: { intraOpNumThreads: options.threads, interOpNumThreads: 1, extra: { session: shortSpinning } },
      warning: undefined,
    };
  } catch (cause) {
    if (force === 'native') throw missing(cause);
    return loadWasm(options.threads, nativeWarning(cause));
  }
}

async function loadWasm(threads: number, warning: string | undefined): Promise<Backend> {
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = threads;
  return { name: 'wasm', ort, sessionOptions: { executionProviders: ['wasm'] }, warning };
}

/** @throws {EngineError} `backend_unknown` */
export function backendFromEnvironment(): BackendName | undefined {
  const value = process.env.AGL_ENGINE_BACKEND;
  if (value === undefined || value === '' || value === 'native' || value === 'wasm') return value || undefined;
  throw new EngineError({
    code: 'backend_unknown',
    message: `AGL_ENGINE_BACKEND is "${value}", but must be "native" or "wasm".`,
    hint: 'Correct the environment variable, or unset it to let the engine choose.',
    category: 'user',
  });
}

function nativeWarning(cause: unknown): string {
  return (
    `The native ONNX Runtime could not be loaded (${firstLine(cause)}), so the engine runs on WebAssembly, which is 5 to 10 times ` +
    'slower. To mend it, install the optional package onnxruntime-node for this platform ' +
    '(ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node).'
  );
}

function missing(cause: unknown): EngineError {
  return new EngineError({
    code: 'backend_missing',
    message: `The native backend was asked for, but onnxruntime-node could not be loaded: ${firstLine(cause)}`,
    hint: 'Install it with ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node, or let the engine use wasm.',
    category: 'user',
    cause,
  });
}

function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0]!;
}
