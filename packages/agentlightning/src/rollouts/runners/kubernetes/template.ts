import { isMap, isScalar, LineCounter, type ParsedNode, parseAllDocuments, Scalar, visit } from 'yaml';
import { z } from 'zod';
import type { JobSpec, Metadata } from './objects.ts';
import { fillPlain, fillText, placeholderNames, type TemplateValues, unknownPlaceholders } from './placeholders.ts';
import { JobTemplateError } from './template-error.ts';

/** The user's part of a Job: what is not about attempts. */
export interface FilledTemplate {
  metadata: Pick<Metadata, 'labels' | 'annotations'>;
  spec: JobSpec;
}

export interface JobTemplate {
  fill(values: TemplateValues): FilledTemplate;
}

const texts = z.record(z.string(), z.string());
const shape = z.looseObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: z.strictObject({ labels: texts.optional(), annotations: texts.optional() }).default({}),
  spec: z.looseObject({
    template: z.looseObject({
      metadata: z.looseObject({ labels: texts.optional(), annotations: texts.optional() }).optional(),
      spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string().min(1) })).min(1) }),
    }),
  }),
});

/** One attempt is one pod that is never started again: these cannot be the template's. */
const ours: readonly [path: readonly string[], instead: string][] = [
  [['spec', 'backoffLimit'], 'it is 0, and retries.maxAttempts decides'],
  [['spec', 'completions'], 'it is 1'],
  [['spec', 'parallelism'], 'it is 1'],
  [['spec', 'completionMode'], 'each attempt has a Job of its own'],
  [['spec', 'suspend'], 'a Job starts when its Secret is there'],
  [['spec', 'activeDeadlineSeconds'], 'set agent.timeoutSeconds'],
  [['spec', 'podFailurePolicy'], 'failures are told apart by the controller'],
  [['spec', 'ttlSecondsAfterFinished'], 'Jobs are removed when their attempt has ended'],
  [['spec', 'template', 'spec', 'restartPolicy'], 'it is Never'],
  [['spec', 'template', 'spec', 'activeDeadlineSeconds'], 'set agent.timeoutSeconds'],
  [['spec', 'template', 'spec', 'terminationGracePeriodSeconds'], 'set agent.graceSeconds'],
];

/**
 * Reads a Job in YAML. Placeholders stand in string values: a plain `${attemptNumber}` becomes a number, a quoted one a
 * string. They are filled into the parsed tree, so that no value can add a line of YAML.
 * @param file name of the template, for messages
 * @throws {JobTemplateError} naming the line
 */
export function readJobTemplate(text: string, file: string): JobTemplate {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const [document] = documents;
  if (!Array.isArray(documents) || document === undefined || documents.length !== 1) {
    const found = Array.isArray(documents) ? documents.length : 0;
    throw wrong(file, null, `has ${found} YAML documents`, 'It must be one Job.');
  }
  const lineOf = (node: unknown): number | null => {
    const range = (node as ParsedNode | null | undefined)?.range;
    return range ? lines.linePos(range[0]).line : null;
  };
  const [error] = [...document.errors, ...document.warnings];
  if (error)
    throw wrong(file, lines.linePos(error.pos[0]).line, `is not valid YAML: ${error.message}`, 'Mend the line.');

  visit(document, {
    Scalar(_, node) {
      const [unknown] = typeof node.value === 'string' ? unknownPlaceholders(node.value) : [];
      if (unknown === undefined) return;
      throw wrong(
        file,
        lineOf(node),
        `has the unknown placeholder \${${unknown}}`,
        `Known are ${placeholderNames.join(', ')}. For a literal \${…} write $\${…}.`,
      );
    },
  });
  for (const [path, instead] of ours) {
    const node: unknown = document.getIn(path, true);
    if (node === undefined) continue;
    throw wrong(file, lineOf(node), `sets ${path.join('.')}, which is not the template's`, `Remove it: ${instead}.`);
  }
  const checked = shape.safeParse(document.toJS());
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const path = issue?.path ?? [];
    throw wrong(
      file,
      lineOf(nearest(document, path)),
      `is no Job that can be used: ${path.map(String).join('.') || 'the whole'}: ${issue?.message}`,
      'See docs/kubernetes.md for a template to begin with.',
    );
  }

  return {
    fill(values) {
      const filled = document.clone();
      visit(filled, {
        Scalar(key, node) {
          if (key === 'key' || typeof node.value !== 'string') return undefined;
          const plain = node.type === undefined || node.type === Scalar.PLAIN;
          node.value = plain ? fillPlain(node.value, values) : fillText(node.value, values);
          return undefined;
        },
      });
      const { metadata, spec } = shape.parse(filled.toJS());
      return { metadata, spec } as FilledTemplate;
    },
  };
}

/** The node at `path`, or the last one on the way to it. */
function nearest(document: { getIn(path: unknown[], keep: true): unknown; contents: unknown }, path: PropertyKey[]) {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isScalar(node) || isMap(node)) return node;
  }
  return document.contents;
}

function wrong(file: string, line: number | null, what: string, hint: string): JobTemplateError {
  const place = line === null ? file : `${file}:${line}`;
  return new JobTemplateError({ code: 'job_template_invalid', message: `${place} ${what}.`, hint });
}
