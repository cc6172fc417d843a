import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isHubReference } from '@agentlightning/engine';
import { isStoreUrl } from '../store/index.ts';
import { algorithmsOf } from './algorithm.ts';
import { ConfigError } from './errors.ts';
import type { Config } from './schema.ts';

const configFileNames = ['agl.config.ts', 'agl.config.mts', 'agl.config.mjs', 'agl.config.js', 'agl.config.json'];

/** The configuration file at `pathOrFolder`, absolute. */
export async function findConfigFile(pathOrFolder: string): Promise<string> {
  const path = resolve(pathOrFolder);
  const kind = await kindOf(path);
  if (kind === 'file') return path;
  if (kind === null) {
    throw new ConfigError({
      code: 'config_not_found',
      message: `There is no configuration at ${path}.`,
      hint: 'Give the path of an agl.config file or of its folder, or make one with `agl init`.',
    });
  }
  const present = new Set(await readdir(path));
  const [first, second] = configFileNames.filter((name) => present.has(name));
  if (first === undefined) {
    throw new ConfigError({
      code: 'config_not_found',
      message: `${path} has no configuration file (${configFileNames.join(', ')}).`,
      hint: 'Give the path of one, or make one with `agl init`.',
    });
  }
  if (second !== undefined) {
    throw new ConfigError({
      code: 'config_ambiguous',
      message: `${path} has both ${first} and ${second}.`,
      hint: 'Remove one of them, or give the path of the file.',
    });
  }
  return join(path, first);
}

/** A copy in which every field that names a file or folder has gone through `resolvePath`. */
export function resolvePaths(config: Config, resolvePath: (path: string) => string): Config {
  const { agent: given } = config;
  // A function cannot be cloned.
  const resolved: Config =
    'run' in given ? { ...structuredClone({ ...config, agent: {} }), agent: { ...given } } : structuredClone(config);
  const { agent, grader, tasks, policy, checkpoints } = resolved;
  if ('module' in agent) agent.module = resolvePath(agent.module);
  if ('kubernetes' in agent) {
    const { template, kubeconfig } = agent.kubernetes;
    if (template !== undefined) agent.kubernetes.template = resolvePath(template);
    if (kubeconfig !== undefined) agent.kubernetes.kubeconfig = resolvePath(kubeconfig);
  } else agent.cwd = resolvePath(agent.cwd ?? '.');
  if ('workspace' in agent && agent.workspace) {
    agent.workspace.folder = resolvePath(agent.workspace.folder);
    if (agent.workspace.from !== undefined) agent.workspace.from = resolvePath(agent.workspace.from);
  }
  if (typeof grader === 'object' && 'module' in grader) grader.module = resolvePath(grader.module);
  if (typeof grader === 'object' && ('module' in grader || 'command' in grader)) {
    grader.cwd = resolvePath(grader.cwd ?? '.');
  }
  if (typeof grader === 'object' && 'sql' in grader) grader.sql.databases = resolvePath(grader.sql.databases);
  for (const algorithm of algorithmsOf(resolved.algorithm))
    if ('module' in algorithm) algorithm.module = resolvePath(algorithm.module);
  tasks.train = resolvePath(tasks.train);
  if (tasks.validation !== undefined) tasks.validation = resolvePath(tasks.validation);
  if (policy !== undefined && !isHubReference(policy.model)) policy.model = resolvePath(policy.model);
  for (const model of resolved.models) {
    if (model.upstream === 'embedded') {
      if (!isHubReference(model.model)) model.model = resolvePath(model.model);
    } else if (model.tokenizer !== undefined) model.tokenizer = resolvePath(model.tokenizer);
  }
  for (const prompt of Object.values(resolved.prompts))
    if (typeof prompt === 'object' && 'file' in prompt) prompt.file = resolvePath(prompt.file);
  if (checkpoints.folder !== undefined) checkpoints.folder = resolvePath(checkpoints.folder);
  const { tls, log } = resolved.server;
  if (tls) resolved.server.tls = { cert: resolvePath(tls.cert), key: resolvePath(tls.key) };
  if (log !== undefined && log !== '-') resolved.server.log = resolvePath(log);
  const inFile = !isStoreUrl(resolved.store);
  if (inFile) resolved.store = resolvePath(resolved.store);
  resolved.runs = resolvePath(resolved.runs ?? (inFile ? join(dirname(resolved.store), 'runs') : '.agl/runs'));
  return resolved;
}

/** @throws {ConfigError} for the first field whose file or folder does not exist */
export async function requireFiles(config: Config, source: string): Promise<void> {
  const { agent, grader, tasks, policy } = config;
  const needed: [field: string, path: string | undefined, kind: 'file' | 'folder'][] = [
    ['agent.module', 'module' in agent ? agent.module : undefined, 'file'],
    ['agent.cwd', 'cwd' in agent ? agent.cwd : undefined, 'folder'],
    ['agent.workspace.from', 'workspace' in agent ? agent.workspace?.from : undefined, 'folder'],
    ['agent.kubernetes.template', 'kubernetes' in agent ? agent.kubernetes.template : undefined, 'file'],
    ['agent.kubernetes.kubeconfig', 'kubernetes' in agent ? agent.kubernetes.kubeconfig : undefined, 'file'],
    ['tasks.train', tasks.train, 'file'],
    ['tasks.validation', tasks.validation, 'file'],
    ['grader.module', typeof grader === 'object' && 'module' in grader ? grader.module : undefined, 'file'],
    ...algorithmsOf(config.algorithm).map((algorithm, index, all): (typeof needed)[number] => [
      `algorithm${all.length > 1 ? `[${index}]` : ''}.module`,
      'module' in algorithm ? algorithm.module : undefined,
      'file',
    ]),
    ['grader.cwd', typeof grader === 'object' && 'cwd' in grader ? grader.cwd : undefined, 'folder'],
    [
      'grader.sql.databases',
      typeof grader === 'object' && 'sql' in grader ? grader.sql.databases : undefined,
      'folder',
    ],
    ['server.tls.cert', config.server.tls?.cert, 'file'],
    ['server.tls.key', config.server.tls?.key, 'file'],
    ['policy.model', ...modelPath(policy?.model)],
    ...Object.entries(config.prompts).map(([name, prompt]): (typeof needed)[number] => [
      `prompts.${name}.file`,
      typeof prompt === 'object' && 'file' in prompt ? prompt.file : undefined,
      'file',
    ]),
    ...config.models.map((each, index): (typeof needed)[number] =>
      each.upstream === 'embedded'
        ? [`models[${index}].model`, ...modelPath(each.model)]
        : [`models[${index}].tokenizer`, each.tokenizer, 'folder'],
    ),
  ];
  for (const [field, path, kind] of needed) {
    if (path === undefined) continue;
    const found = await kindOf(path);
    if (found === kind) continue;
    throw new ConfigError({
      code: 'config_file_missing',
      message: `${source}: ${field} names ${path}, ${found === null ? 'which does not exist' : `which is a ${found}, not a ${kind}`}.`,
      hint: 'Correct the path; relative ones start at the configuration file.',
    });
  }
}

/** What must be on the disk: nothing for a model of the Hub. */
function modelPath(model: string | undefined): [path: string | undefined, kind: 'file' | 'folder'] {
  if (model === undefined || isHubReference(model)) return [undefined, 'folder'];
  return [model, model.endsWith('.gguf') ? 'file' : 'folder'];
}

async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  return found.isDirectory() ? 'folder' : 'file';
}
