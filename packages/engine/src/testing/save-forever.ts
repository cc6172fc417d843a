import { loadBackend } from '../host/backend.ts';
import { saveTrainingState } from '../host/training-state.ts';
import { Trainer } from '../train/index.ts';
import { tinyConfig, tinyWeights } from './tiny-model.ts';

// Saves a new state over the last one, again and again, until it is killed. After each one it tells the number of steps in it.
const { ort, sessionOptions } = await loadBackend({ force: 'native', threads: 1 });
const trainer = new Trainer({ ort, sessionOptions, config: tinyConfig, parameters: tinyWeights() });
const row = { tokenIds: Int32Array.of(1, 2, 3, 4), weights: Float32Array.of(0, 1, 1, 1) };
for (let steps = 1; ; steps++) {
  await trainer.forwardBackward([row], { name: 'cross_entropy' });
  await trainer.optimStep({ learningRate: 0.001 });
  await saveTrainingState(process.argv[2]!, trainer);
  process.stdout.write(`${steps}\n`);
}
