import type { EmbeddedEngine, ExportForm } from '@agentlightning/engine';

interface FurtherExports {
  forms: readonly ExportForm[];
  /** Where the model is already. */
  policyFolder: string;
  note: (message: string) => void;
}

/** `policy-adapter`, `policy.f16.gguf`, … beside the folder of the policy. */
function exportTarget(policyFolder: string, form: ExportForm): string {
  return form.startsWith('gguf-') ? `${policyFolder}.${form.slice('gguf-'.length)}.gguf` : `${policyFolder}-${form}`;
}

/**
 * Writes the trained policy in the forms that `policy.export` asks for. A form that this model cannot take costs a note, not the run:
 * the policy itself is there, and can be exported again.
 */
export async function exportFurther(
  engine: Pick<EmbeddedEngine, 'export'>,
  { forms, policyFolder, note }: FurtherExports,
): Promise<void> {
  for (const form of new Set(forms)) {
    if (form === 'model') continue; // the policy's folder is that
    const target = exportTarget(policyFolder, form);
    try {
      await engine.export(target, form);
      note(`Policy as ${form} in ${target}`);
    } catch (error) {
      note(`The policy could not be written as ${form}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
