import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';

/**
 * Serves POD/CONTAINER.log files of a folder as a kubelet serves logs. The API server's way to it is encrypted and, as this
 * control plane is set up, not authenticated.
 */
export function createLogServer(tls: { cert: string; key: string }, folder: string): Server {
  return createServer(tls, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://kubelet');
    const [, kind, , pod = '', container = ''] = pathname.split('/').map(decodeURIComponent);
    const path = join(folder, pod, `${container}.log`);
    if (kind !== 'containerLogs' || !existsSync(path)) {
      response.writeHead(404).end('no such container\n');
      return;
    }
    const text = readFileSync(path);
    const tail = searchParams.get('tailLines');
    response.end(tail === null ? text : lastLines(text, Number(tail)));
  });
}

function lastLines(text: Buffer, count: number): Buffer {
  let at = text.length;
  for (let lines = 0; lines <= count && at > 0; lines += 1) at = text.lastIndexOf(0x0a, at - 1);
  return at <= 0 ? text : text.subarray(at + 1);
}
