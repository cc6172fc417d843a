import { AgentLightningError } from '../../errors.ts';
import type { Check, Finding, Patient } from './check.ts';

export interface Diagnosis extends Finding {
  check: string;
}

/** Runs the checks in order; what needs one that found something bad is skipped. */
export async function examine(
  checks: readonly Check[],
  patient: Patient,
  tell: (diagnosis: Diagnosis) => void,
): Promise<Diagnosis[]> {
  const all: Diagnosis[] = [];
  const bad = new Set<string>();
  for (const { name, needs, run } of checks) {
    const missing = needs.find((need) => bad.has(need));
    const findings: Finding[] =
      missing === undefined
        ? await Promise.resolve(run(patient)).then(asList, asFinding)
        : [{ state: 'skipped', message: `not looked at before "${missing}" is mended` }];
    if (findings.some(({ state }) => state === 'bad' || state === 'skipped')) bad.add(name);
    for (const finding of findings) {
      const diagnosis = { check: name, ...finding };
      all.push(diagnosis);
      tell(diagnosis);
    }
  }
  return all;
}

const asList = (found: Finding | Finding[]): Finding[] => (Array.isArray(found) ? found : [found]);

function asFinding(error: unknown): Finding[] {
  if (!AgentLightningError.isInstance(error)) throw error;
  return [{ state: 'bad', message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) }];
}
