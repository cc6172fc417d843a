import type { Command } from 'commander';
import { registerController } from './commands/controller.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerExport } from './commands/export.ts';
import { registerImport } from './commands/import.ts';
import { registerInit } from './commands/init.ts';
import { registerInspect } from './commands/inspect.ts';
import { registerPrune } from './commands/prune.ts';
import { registerResume } from './commands/resume.ts';
import { registerRollouts } from './commands/rollouts.ts';
import { registerServe } from './commands/serve.ts';
import { registerStatus } from './commands/status.ts';
import { registerToken } from './commands/token.ts';
import { registerTrain } from './commands/train.ts';

/** Every verb; a new one is a file and a line here. */
export const commands: ((program: Command) => void)[] = [
  registerInit,
  registerDoctor,
  registerTrain,
  registerResume,
  registerServe,
  registerController,
  registerStatus,
  registerRollouts,
  registerInspect,
  registerExport,
  registerImport,
  registerPrune,
  registerToken,
];
