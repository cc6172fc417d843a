import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createWorkshop } from '../testing/workshop.ts';
import { type ContainerSpec, containerCommand, createContainerGrader } from './container.ts';
import type { GradeRequest } from './grader.ts';
import { noModel } from './no-model.test.support.ts';

/** A stand-in for docker and podman: what a real one makes of the options cannot be seen on a machine without it. */
const workshop = createWorkshop();
afterAll(() => workshop.close());
let engines = 0;

function engine(whenRun: string) {
  engines += 1;
  const notes = join(workshop.folder, `engine-${engines}.notes`);
  const path = join(workshop.folder, `engine-${engines}`);
  writeFileSync(path, `#!/bin/sh\necho "$*" >> ${notes}\ncase $1 in run) ${whenRun};; esac\n`);
  chmodSync(path, 0o755);
  return { path, notes: () => readFileSync(notes, 'utf8').trim().split('\n'), hasRun: () => existsSync(notes) };
}

const limits = { memoryMiB: 512, cpus: 1, processes: 64 };
const spec = (path: string, change: Partial<ContainerSpec> = {}): ContainerSpec => ({
  container: { engine: path, image: 'grader:1', command: ['python', 'grade.py'], ...limits },
  timeoutSeconds: 60,
  ...change,
});
const request: GradeRequest = {
  attemptId: 'a1',
  task: { id: 't', input: { question: '40 + 2?' }, private: { answer: 42 } },
  output: '42',
  failure: null,
  workspace: '/somewhere/workspace',
  calls: [],
  ...noModel,
  signal: new AbortController().signal,
};

it('shuts the container in', () => {
  const { container } = spec('docker');
  expect(containerCommand(container, { name: 'n', workspace: '/w' }).join(' ')).toBe(
    'docker run --rm --interactive --name n --network none --cap-drop ALL --security-opt no-new-privileges --read-only --tmpfs /tmp ' +
      '--memory 512m --memory-swap 512m --cpus 1 --pids-limit 64 --mount type=bind,source=/w,target=/workspace,readonly ' +
      'grader:1 python grade.py',
  );
});

it('gives it the task with its private part, and takes its last line as the reward', async () => {
  const { path, notes } = engine(`grep -q '"private":{"answer":42}.*"workspace":"/workspace"' && echo 0.5`);
  expect(await createContainerGrader(spec(path)).grade(request)).toBe(0.5);
  expect(notes()).toHaveLength(1);
});

it.each([
  ['that exits with an error', 'echo no; exit 3', 'grader_crash'],
  ['that prints no number', 'echo well', 'grader_not_finite'],
])('a container %s is a fault of the grader', async (_, script, code) => {
  await expect(createContainerGrader(spec(engine(script).path)).grade(request)).rejects.toMatchObject({ code });
});

it('an engine that is not there is a fault of the grader', async () => {
  const grader = createContainerGrader(spec('/no/such/engine'));
  await expect(grader.grade(request)).rejects.toMatchObject({ code: 'grader_crash' });
});

it('removes a container that takes too long', async () => {
  const { path, notes, hasRun } = engine('exec sleep 100000');
  const abort = new AbortController();
  const graded = createContainerGrader(spec(path)).grade({ ...request, signal: abort.signal });
  const refused = expect(graded).rejects.toMatchObject({ code: 'grader_crash' });
  await expect.poll(hasRun, { timeout: 20_000 }).toBe(true);
  abort.abort();
  await refused;
  expect(notes().at(-1)).toBe('rm --force agl-grader-a1');
  const late = createContainerGrader(spec(path, { timeoutSeconds: 0.1 })).grade(request);
  await expect(late).rejects.toMatchObject({ code: 'grader_timeout' });
}, 60_000);
