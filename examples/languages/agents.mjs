/** The same agent in four languages, as `agent` of a configuration. `needs`: the program that runs it. */
export const agents = {
  python: { needs: 'python3', agent: { command: ['python3', 'agent.py'] } },
  bash: { needs: 'curl', agent: { command: ['bash', 'agent.sh'] } },
  // The first start compiles it. Go keeps what it has compiled in the folder GOCACHE.
  go: { needs: 'go', agent: { command: ['go', 'run', 'agent.go'], timeoutSeconds: 120 } },
  typescript: { needs: 'node', agent: { module: './agent.ts' } },
};
