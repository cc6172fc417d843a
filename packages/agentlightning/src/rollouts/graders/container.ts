import { runCommand } from '../children/command.ts';
import { commandReward } from './command.ts';
import type { Grader } from './grader.ts';

export interface ContainerSpec {
  container: {
    image: string;
    command?: readonly string[] | undefined;
    /** A program that takes the options of `docker run`. */
    engine: string;
    memoryMiB: number;
    cpus: number;
    processes: number;
  };
  timeoutSeconds: number;
}

const graceMs = 1000;
const removeTimeoutMs = 30_000;

/**
 * A container that reads what a command would, and prints the reward as its last line. It has no network, no capability, a file
 * system that cannot be written to apart from /tmp, and the attempt's workspace, read-only, as /workspace.
 */
export function createContainerGrader({ container, timeoutSeconds }: ContainerSpec): Grader {
  return {
    name: 'container',
    wantsCalls: true,
    async grade({ attemptId, task, output, failure, workspace, calls, signal }) {
      const name = `agl-grader-${attemptId.replaceAll(/[^a-zA-Z0-9_.-]/g, '-')}`;
      const shared = { cwd: process.cwd(), environment: process.env, graceMs };
      const { end, lastLine, log } = await runCommand({
        ...shared,
        command: containerCommand(container, { name, workspace }),
        timeoutMs: timeoutSeconds * 1000,
        signal,
        stdin: JSON.stringify({ task, output, failure, workspace: workspace && '/workspace', calls }),
      });
      // The engine's client is gone; its container is a child of somebody else, and goes on unless it is told.
      if (end.kind !== 'exited') {
        const command = [container.engine, 'rm', '--force', name];
        await runCommand({
          ...shared,
          command,
          timeoutMs: removeTimeoutMs,
          signal: new AbortController().signal,
        });
      }
      return commandReward({ end, lastLine, log }, timeoutSeconds);
    },
    close: () => Promise.resolve(),
  };
}

/** As docker and podman take it. */
export function containerCommand(
  { engine, image, command = [], memoryMiB, cpus, processes }: ContainerSpec['container'],
  { name, workspace }: { name: string; workspace: string | null },
): string[] {
  return [
    ...[engine, 'run', '--rm', '--interactive', '--name', name],
    ...['--network', 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--read-only', '--tmpfs', '/tmp'],
    // As much with swap as without: none of it.
    ...['--memory', `${memoryMiB}m`, '--memory-swap', `${memoryMiB}m`],
    ...['--cpus', String(cpus), '--pids-limit', String(processes)],
    ...(workspace === null ? [] : ['--mount', `type=bind,source=${workspace},target=/workspace,readonly`]),
    ...[image, ...command],
  ];
}
