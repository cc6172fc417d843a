import { setImmediate } from 'node:timers/promises';
import type { ForwardBackwardResult, LossSpec, OptimStep, TrainRow, ValueResult } from '../contract.ts';
import { type ExportForm, exportModel, loadModelFolder, readModelConfig, type StoredModel } from '../files/index.ts';
import { initLora, initValueHead, type LoraConfig, type ModelConfig, type Parameters } from '../model/index.ts';
import { Trainer } from '../train/index.ts';
import { type BackendName, loadBackend } from './backend.ts';
import { type MemoryPlan, planMemory } from './memory-plan.ts';
import { type Method, Transferred } from './protocol.ts';
import { loadTrainingState, saveTrainingState } from './training-state.ts';

export interface TrainerSetup {
  folder: string;
  threads: number;
  backend: BackendName | undefined;
  lora: LoraConfig | undefined;
  /** Predict values, from a head that begins with zeros. */
  valueHead: boolean;
  /** Of fresh adapters. */
  seed: number;
  /** For the whole engine. */
  memoryBytes: number;
}

export interface TrainerReady {
  config: ModelConfig;
  eosIds: readonly number[];
  parameters: number;
  trainableParameters: number;
  backend: BackendName;
  warning: string | undefined;
  memory: MemoryPlan;
}

/** What the training worker can be asked; calls run one after another. */
export interface TrainerMethods {
  start: Method<TrainerSetup, TrainerReady>;
  forward: Method<TrainRow[], Float32Array[]>;
  forwardValues: Method<TrainRow[], ValueResult>;
  forwardBackward: Method<{ rows: TrainRow[]; loss: LossSpec }, ForwardBackwardResult>;
  optimStep: Method<OptimStep, { gradNorm: number }>;
  /** The weights to sample from, moved out. Frozen ones are there the first time only. `reuse`: arrays to write them into. */
  weights: Method<{ reuse: Parameters | undefined }, Parameters>;
  saveState: Method<string, void>;
  loadState: Method<string, void>;
  export: Method<{ target: string; form: ExportForm }, void>;
  close: Method<undefined, void>;
}

export function createTrainerService(): TrainerMethods {
  let started: { trainer: Trainer; model: StoredModel; folder: string } | undefined;
  let frozenSent = false;
  const trainer = () => started!.trainer;
  return {
    async start({ folder, threads, backend: force, lora, valueHead, seed, memoryBytes }) {
      const plan = planMemory({ config: await readModelConfig(folder), lora, memoryBytes }); // before the weights are read
      const model = await loadModelFolder(folder);
      const { config, parameters } = model;
      const backend = await loadBackend({ force, threads });
      const { ort, sessionOptions } = backend;
      const adapters = lora && { config: lora, adapters: initLora(config, lora, seed) };
      const head = valueHead ? { valueHead: initValueHead(config) } : {};
      started = {
        trainer: new Trainer({
          ort,
          sessionOptions,
          config,
          parameters,
          memoryBytes: plan.activations,
          ...(adapters && { lora: adapters }),
          ...head,
        }),
        model,
        folder,
      };
      return {
        config,
        eosIds: model.eosIds,
        parameters: count(parameters),
        trainableParameters: count(trainer().trainable),
        backend: backend.name,
        warning: backend.warning,
        memory: plan,
      };
    },
    forward: async (rows) => trainer().forward(rows),
    forwardValues: async (rows) => trainer().forwardValues(rows),
    async forwardBackward({ rows, loss }, { signal }) {
      await setImmediate(); // a cancellation that came with the call is seen before anything is computed
      return trainer().forwardBackward(rows, loss, signal);
    },
    optimStep: async (step) => trainer().optimStep(step),
    async weights({ reuse }) {
      const weights = outgoingWeights(trainer(), { reuse, frozen: !frozenSent });
      frozenSent = true;
      return new Transferred(
        weights,
        [...weights.values()].map((values) => values.buffer as ArrayBuffer),
      );
    },
    saveState: async (folder) => saveTrainingState(folder, trainer()),
    loadState: async (folder) => loadTrainingState(folder, trainer()),
    async export({ target, form }) {
      const model = { ...started!.model, parameters: trainer().mergedParameters() };
      await exportModel(target, form, { model, lora: trainer().lora, base: started!.folder });
    },
    async close() {
      await started?.trainer.close();
    },
  };
}

/** Arrays that may be given away: freshly merged ones as they are, live ones as copies. */
function outgoingWeights(
  trainer: Trainer,
  { reuse, frozen }: { reuse: Parameters | undefined; frozen: boolean },
): Parameters {
  const outgoing: Parameters = new Map();
  for (const [name, values] of trainer.mergedParameters()) {
    if (values !== trainer.parameters.get(name)) {
      outgoing.set(name, values);
    } else if (trainer.lora === undefined || frozen) {
      const copy = reuse?.get(name) ?? new Float32Array(values.length);
      copy.set(values);
      outgoing.set(name, copy);
    }
  }
  return outgoing;
}

function count(parameters: Parameters): number {
  return [...parameters.values()].reduce((sum, { length }) => sum + length, 0);
}
