import { createLastLine } from '../../children/last-line.ts';
import { createLogTail } from '../../children/log-tail.ts';
import type { Output } from '../../children/output.ts';
import type { Api } from './client/api.ts';

/** Of a flood the beginning is left out: kubelets keep 10 MiB of it, and nobody reads that. */
const maxLines = 10_000;

/**
 * The end of what the container wrote, standard output and standard error together, as Kubernetes keeps them.
 * @throws {KubernetesApiError} it is not to be had: the node is gone, or the container with it
 */
export async function readPodLog(
  api: Api,
  { namespace, pod, container, signal }: { namespace: string; pod: string; container: string; signal: AbortSignal },
): Promise<Output> {
  const [log, lastLine] = [createLogTail(), createLastLine()];
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log`;
  const query = { container, tailLines: String(maxLines) };
  for await (const chunk of await api.stream({ path, query, signal })) {
    log.append(chunk);
    lastLine.append(chunk);
  }
  return { lastLine: lastLine.read(), log: log.text() };
}
