import { connect } from 'node:net';

/** Sends bytes as they are and returns everything that comes back until the server closes, or `[open]` behind it when it has kept the connection for `ms` without news. */
export function rawHttp(url: string, text: string, ms = 2000, encoding: BufferEncoding = 'utf8'): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text, encoding));
    socket.setTimeout(ms, () => {
      answer += '[open]';
      socket.destroy();
    });
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}
