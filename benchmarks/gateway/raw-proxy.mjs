// The least that a proxy can do: node:http, streams piped. Argument: the upstream's port.
import { Agent, createServer, request } from 'node:http';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });

createServer((incoming, outgoing) => {
  const forwarded = request(
    { host: '127.0.0.1', port, agent, method: incoming.method, path: incoming.url, headers: incoming.headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    },
  );
  forwarded.on('error', () => outgoing.destroy());
  incoming.pipe(forwarded);
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port);
});
