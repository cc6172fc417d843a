import { type RemoteUpstreamOptions, upstreamKinds } from '../../upstreams/index.ts';
import { scriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../../upstreams/testing/servers/index.ts';
import { testModelFolder } from '../../upstreams/testing/servers/test-model.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './started-gateway.ts';

export interface RemoteModel {
  gateway: StartedGateway;
  /** The model server: its log, and orders for what shall go wrong. */
  model: FakeServer;
  attempt: OpenAttempt;
  /** What clients call it. */
  alias: string;
  close(): Promise<void>;
}

/** A gateway before a model server, which is asked with tokens; its weights are the policy "remote". */
export async function startRemoteModel(
  fake: FakeServerOptions = {},
  options: Partial<RemoteUpstreamOptions> = {},
): Promise<RemoteModel> {
  const model = await startFakeServer(fake);
  const kind = upstreamKinds.find(({ name }) => name === (fake.kind ?? 'vllm'))!;
  const reach = {
    name: 'remote',
    url: model.url,
    policy: 'remote',
    tokenizer: testModelFolder,
    retries: 0,
    ...options,
  };
  const upstream = await kind.create(reach);
  model.requests.length = 0;
  const gateway = await startGateway(
    scriptedEngine(() => []),
    { routes: [{ alias: 'remote', upstream }] },
  );
  return {
    ...{ gateway, model, alias: 'remote', attempt: await gateway.attempt() },
    async close() {
      await gateway.close();
      await model.close();
    },
  };
}
