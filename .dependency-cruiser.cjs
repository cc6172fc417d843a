// The direction of dependencies (design §3): cli → algorithms → samples → store ← gateway, rollouts, tracing.
const src = '^packages/agentlightning/src/';
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  comment: `${from}/ may import only: ${allowed.join(', ')}`,
  from: { path: `${src}${from}/`, pathNot: '(\\.test\\.ts$|/testing/)' },
  to: { path: src, pathNot: [`${src}(errors\\.ts$|${[from, ...allowed].map((folder) => `${folder}/`).join('|')})`] },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    only('store-knows-nobody', 'store', []),
    only('samples-are-pure', 'samples', ['store', 'engines']),
    only('engines-layer', 'engines', []),
    only('upstreams-layer', 'upstreams', ['store', 'engines']),
    only('prompts-are-pure', 'prompts', ['store']),
    only('gateway-layer', 'gateway', ['store', 'upstreams', 'prompts']),
    only('rollouts-layer', 'rollouts', ['store']),
    only('tracing-layer', 'tracing', ['store']),
    only('metrics-layer', 'metrics', []),
    only('algorithms-layer', 'algorithms', ['samples', 'store', 'engines', 'metrics', 'tracing', 'prompts']),
    only('server-layer', 'server', ['store', 'gateway', 'tracing', 'upstreams', 'engines', 'prompts']),
    {
      name: 'samples-no-io',
      severity: 'error',
      comment: 'samples/ is data in, data out: no file, network, process or clock module',
      from: { path: `${src}samples/`, pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'client-alone',
      severity: 'error',
      comment: 'packages/client runs in Node, Bun and Deno and brings nothing along: no package, no module of Node',
      from: { path: '^packages/client/src', pathNot: '(\\.test\\.ts$|/testing/)' },
      to: { pathNot: '^packages/client/src' },
    },
    {
      name: 'engine-alone',
      severity: 'error',
      from: { path: '^packages/engine/src' },
      to: { path: '^packages/agentlightning' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js'],
    },
  },
};
