import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OtlpSpan } from '../span.ts';

interface ExportRequest {
  resourceSpans: { scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[] }[];
}

/** A server that takes what the client sends. */
export async function startReceiver() {
  const requests: { url: string; authorization: string | undefined; body: ExportRequest }[] = [];
  /** Of the next answers; then 200. */
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      response.statusCode = statuses.shift() ?? 200;
      if (response.statusCode === 200) {
        const { url = '', headers } = request;
        requests.push({ url, authorization: headers.authorization, body: JSON.parse(text) as ExportRequest });
      }
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    requests,
    statuses,
    endpoint,
    environment: { AGL_ENDPOINT: endpoint, AGL_KEY: 'agl-key', AGL_ATTEMPT_ID: 'attempt', AGL_ROLLOUT_ID: 'rollout' },
    /** Each span once, as a receiver that knows ids keeps them. */
    spans(): OtlpSpan[] {
      const all = requests.flatMap(({ body }) =>
        body.resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap(({ spans }) => spans)),
      );
      return [...new Map(all.map((span) => [span.spanId, span])).values()];
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Runs a program of its own that may use everything of the client. */
export async function runAgent(
  program: string,
  environment: Record<string, string>,
  [command, ...flags]: readonly [string, ...string[]] = [process.execPath, '--input-type=module', '-e'],
) {
  const index = new URL('../index.js', import.meta.url).href;
  const source = `const agl = await import(${JSON.stringify(index)});\n${program}`;
  const child = spawn(command, [...flags, source], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}
