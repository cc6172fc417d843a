import { parentPort } from 'node:worker_threads';
import { createTrainerService } from './trainer-service.ts';
import { serve } from './worker-server.ts';

serve(parentPort!, createTrainerService(), { oneByOne: true });
