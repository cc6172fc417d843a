import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallsUnderWay } from './calls-under-way.ts';
import { ReplySink } from './reply-sink.ts';

let response: ServerResponse;
let client: Socket;
let close: () => void;

/** A client that has asked and reads nothing. */
beforeEach(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  close = () => {
    client.destroy();
    server.close().closeAllConnections();
  };
});
afterEach(() => close());

/** More than the buffers of both ends of a connection hold. */
function fill(sink: ReplySink): Promise<void> {
  return sink.write('x'.repeat(64 << 20)) ?? Promise.reject(new Error('there is still room'));
}

describe('ReplySink', () => {
  it('waits for a client that reads slowly', async () => {
    const sink = new ReplySink(response, () => false);
    const room = fill(sink);
    let waited = false;
    const drained = room.then(() => {
      waited = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(waited).toBe(false);
    client.resume();
    await drained;
    expect(sink.begun).toBe(true);
  });

  it('waits no longer for a client that has left, and ignores what comes then', async () => {
    const sink = new ReplySink(response, () => false);
    const room = fill(sink);
    client.destroy();
    await room;
    expect(sink.write('more')).toBeUndefined();
    sink.end('the end');
    sink.json(200, '{}', {});
  });

  it('ends the connection with the answer when the server goes down', async () => {
    new ReplySink(response, () => true).json(503, '{}', { 'x-should-retry': 'false' });
    client.resume();
    const [head] = (await once(client, 'data')) as [Buffer];
    expect(String(head)).toMatch(/^HTTP\/1.1 503 .*\r\nx-should-retry: false\r\nconnection: close\r\n/);
  });
});

describe('CallsUnderWay', () => {
  it('waits for answers, and for no client that has left', async () => {
    const calls = new CallsUnderWay();
    const abort = calls.begin(response);
    let drained = false;
    const draining = calls.drain(60_000).then(() => {
      drained = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(drained).toBe(false);
    client.destroy();
    await draining;
    expect(abort.signal.reason).toMatchObject({ code: 'client_left' });
    expect(calls.begin(response).signal.aborted).toBe(true);
    await calls.drain(60_000);
  });

  it('tells everybody who waits', async () => {
    const calls = new CallsUnderWay();
    calls.begin(response);
    const draining = [calls.drain(60_000), calls.drain(60_000)];
    client.destroy();
    await Promise.all(draining);
  });
});
