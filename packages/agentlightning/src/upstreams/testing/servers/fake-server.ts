import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClientGone, type Exchange, readBody, sendJson, untilGone } from './exchange.ts';
import { type Fault, FaultOrders } from './faults.ts';
import { llamacppRoutes } from './llamacpp.ts';
import type { LoggedRequest } from './log.ts';
import type { FakeServerOptions, RouteTable, ServerState } from './server-state.ts';
import { sglangRoutes } from './sglang.ts';
import { loadTestModel, type TestModel } from './test-model.ts';
import { vllmRoutes } from './vllm.ts';

export interface FakeServer {
  /** Without a slash and without `/v1` at its end. */
  url: string;
  /** Every generation, in the order of arrival. */
  requests: LoggedRequest[];
  /** Names of adapters that are loaded, with their folders. */
  adapters: ReadonlyMap<string, string>;
  model: TestModel;
  /** The next generations go wrong in these ways, one each; null: that one goes well. */
  order(...faults: (Fault | null)[]): void;
  close(): Promise<void>;
}

const tables = { vllm: vllmRoutes, sglang: sglangRoutes, llamacpp: llamacppRoutes };

export async function startFakeServer(options: FakeServerOptions = {}): Promise<FakeServer> {
  const { kind = 'vllm', script = () => 'ok', contextTokens = 2048, modelId = 'test-model' } = options;
  const model = options.model ?? (await loadTestModel());
  const state: ServerState = {
    ...{ model, modelId, contextTokens, script, options },
    ...{ requests: [], adapters: new Map<string, string>() },
  };
  const orders = new FaultOrders();
  const server = createServer((request, response) => {
    answer(tables[kind], { state, orders }, request, response).catch((error: unknown) => {
      if (error instanceof ClientGone) return;
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: { message: String(error), type: 'InternalServerError', code: 500 } });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: state.requests,
    adapters: state.adapters,
    model,
    order: (...faults) => orders.order(...faults),
    async close() {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  table: RouteTable,
  { state, orders }: { state: ServerState; orders: FaultOrders },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { apiKey, pace = turnOfEventLoop } = state.options;
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  const body = await readBody(request);
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
    sendJson(response, 401, { error: 'Unauthorized' });
    return;
  }
  const route = table[`${request.method} ${path}`];
  if (route === undefined) {
    sendJson(response, 404, { detail: 'Not Found' });
    return;
  }
  const fault = route.generates === true ? orders.next() : null;
  const exchange: Exchange = { path, body, fault, response, pace, gone: () => response.destroyed };
  if (fault?.kind === 'status') {
    const { status, message = `ordered ${status}`, headers = {} } = fault;
    sendJson(response, status, { error: { message, type: 'OrderedError', param: null, code: status } }, headers);
  } else if (fault?.kind === 'hang' && fault.after === undefined) {
    await untilGone(exchange);
  } else if (fault?.kind === 'reset' && fault.after === undefined) {
    request.socket.resetAndDestroy();
  } else {
    await route.answer(state, exchange);
  }
}

function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
