import { parentPort } from 'node:worker_threads';
import { createSamplerService } from './sampler-service.ts';
import { serve } from './worker-server.ts';

serve(parentPort!, createSamplerService());
