import { createLlamacppUpstream } from './llamacpp.ts';
import { createOpenAiUpstream } from './openai.ts';
import type { RemoteUpstream, RemoteUpstreamOptions } from './remote.ts';
import { createSglangUpstream } from './sglang.ts';
import { createVllmUpstream } from './vllm.ts';

export interface UpstreamKind {
  name: string;
  /** Its calls can be trained on, as far as the server allows. */
  trainable: boolean;
  create(options: RemoteUpstreamOptions & { modelId?: string }): Promise<RemoteUpstream>;
}

/** Every kind of model server: a new one is one file and one line here. */
export const upstreamKinds = [
  { name: 'vllm', trainable: true, create: createVllmUpstream },
  { name: 'sglang', trainable: true, create: createSglangUpstream },
  { name: 'llamacpp', trainable: true, create: createLlamacppUpstream },
  {
    name: 'openai',
    trainable: false,
    create: async ({ modelId, url, ...options }) =>
      createOpenAiUpstream({ ...options, baseUrl: url, modelId: modelId ?? options.name }),
  },
] as const satisfies readonly UpstreamKind[];
