/** What a Job template can ask for. Fixed: a template is filled in, never executed. */
export interface TemplateValues {
  runId: string;
  rolloutId: string;
  attemptId: string;
  /** 1 for the first attempt of a rollout. */
  attemptNumber: number;
  /** Name under which the agent calls the policy. */
  model: string;
  /** As pods see it, without `/v1`. */
  gatewayUrl: string;
  timeoutSeconds: number;
}

/** A complete list, because the type asks for each name. */
const names: Record<keyof TemplateValues, true> = {
  runId: true,
  rolloutId: true,
  attemptId: true,
  attemptNumber: true,
  model: true,
  gatewayUrl: true,
  timeoutSeconds: true,
};

export const placeholderNames = Object.keys(names) as (keyof TemplateValues)[];

const placeholder = /\$(\$?)\{([^}]*)\}/g;

/** Names in `text` that are no placeholder. `$${x}` is the text `${x}`. */
export function unknownPlaceholders(text: string): string[] {
  return [...text.matchAll(placeholder)].flatMap(([, literal, name = '']) => (literal || isKnown(name) ? [] : [name]));
}

/** The text with its placeholders filled in. What was filled in is not looked at again. */
export function fillText(text: string, values: TemplateValues): string {
  return text.replace(placeholder, (whole, literal: string, name: string) => {
    if (literal) return whole.slice(1);
    return isKnown(name) ? String(values[name]) : whole;
  });
}

/** The value itself, with its type, when `text` is one placeholder and nothing else; otherwise the filled text. */
export function fillPlain(text: string, values: TemplateValues): string | number {
  const name = /^\$\{([^}]*)\}$/.exec(text)?.[1];
  return name !== undefined && isKnown(name) ? values[name] : fillText(text, values);
}

function isKnown(name: string): name is keyof TemplateValues {
  return Object.hasOwn(names, name);
}
