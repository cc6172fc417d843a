import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadModel } from './hub.ts';

const weights = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));
const config = Buffer.from('{"hidden_size": 8}\n');
const root = await mkdtemp(join(tmpdir(), 'agl-hub-'));
afterAll(() => rm(root, { recursive: true }));

/** A hub that hangs up within large files as often as it is told to. */
let server: Server;
let endpoint = '';
let drops = 0;
let ranges: (string | undefined)[] = [];
let requests = 0;
let served = weights;
let cache = '';

beforeEach(async () => {
  drops = 0;
  ranges = [];
  requests = 0;
  served = weights;
  cache = await mkdtemp(join(root, 'cache-'));
  server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((closed) => server.close(closed)));

function answer(request: IncomingMessage, response: ServerResponse): void {
  requests += 1;
  const url = request.url!;
  if (url === '/api/models/some/model/revision/main?blobs=true') {
    const gitSha1 = createHash('sha1').update(`blob ${config.length}\0`).update(config).digest('hex');
    const sha256 = createHash('sha256').update(weights).digest('hex');
    const siblings = [
      { rfilename: 'config.json', size: config.length, blobId: gitSha1 },
      { rfilename: 'model.safetensors', size: weights.length, blobId: 'x', lfs: { sha256, size: weights.length } },
      { rfilename: 'q/model.gguf', size: weights.length, blobId: 'x', lfs: { sha256, size: weights.length } },
      { rfilename: '../escape.json', size: config.length, blobId: gitSha1 },
      { rfilename: 'README.md', size: 9, blobId: 'y' },
    ];
    response.end(JSON.stringify({ sha: 'c0ffee', siblings }));
    return;
  }
  if (url.endsWith('/config.json')) return void response.end(config);
  if (!url.startsWith('/some/model/resolve/c0ffee/')) return void response.writeHead(404).end();
  ranges.push(request.headers.range);
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const rest = served.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length });
  if (drops === 0) return void response.end(rest);
  drops -= 1;
  response.write(rest.subarray(0, 70_000), () => response.destroy());
}

describe('a model of the Hub', () => {
  it('arrives whole over a connection that breaks, from where it broke', async () => {
    drops = 3;
    const seen: number[] = [];
    const onProgress = (progress: { doneBytes: number }) => void seen.push(progress.doneBytes);
    const folder = await downloadModel('hf:some/model', cache, { endpoint, onProgress });
    expect(Buffer.compare(await readFile(join(folder, 'model.safetensors')), weights)).toBe(0);
    expect((await readdir(folder)).sort()).toEqual(['config.json', 'model.safetensors']);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.length).toBeGreaterThan(1);
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range!))).toBe(true);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it('is taken from the cache the second time, without the network', async () => {
    const folder = await downloadModel('hf:some/model', cache, { endpoint });
    const asked = requests;
    expect(await downloadModel('hf:some/model', cache, { endpoint })).toBe(folder);
    expect(requests).toBe(asked);
  });

  it('is refused when its bytes are not those that the Hub lists', async () => {
    served = Buffer.from(weights);
    served[1234]! ^= 1;
    await expect(downloadModel('hf:some/model', cache, { endpoint })).rejects.toMatchObject({
      code: 'download_corrupt',
      retryable: true,
    });
    served = weights;
    await downloadModel('hf:some/model', cache, { endpoint });
  });

  it('is given up when nothing arrives any more, and says what it has', async () => {
    served = weights.subarray(0, 70_000);
    await expect(downloadModel('hf:some/model', cache, { endpoint })).rejects.toMatchObject({
      code: 'download_failed',
      message: expect.stringContaining('at byte 70000') as string,
    });
  });

  it('may be one GGUF file', async () => {
    const file = await downloadModel('hf:some/model/q/model.gguf', cache, { endpoint });
    expect(Buffer.compare(await readFile(file), weights)).toBe(0);
  });

  it.each([
    ['hf:some/model/other.gguf', 'model_not_found', 'its GGUF files are q/model.gguf'],
    ['hf:other/model', 'model_not_found', 'There is no model "other/model"'],
    ['hf:model', 'hub_reference_invalid', '"hf:model" does not name a model'],
    ['hf:../../etc', 'hub_reference_invalid', 'does not name'],
  ])('%s is refused as %s', async (reference, code, message) => {
    await expect(downloadModel(reference, cache, { endpoint })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });
});
