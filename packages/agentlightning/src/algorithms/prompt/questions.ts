import type { PromptRules, TrialResult } from './ports.ts';

/** More reports than that do not fit every model. */
const maxReportCharacters = 6000;

export interface AboutPrompt {
  rules: PromptRules;
  /** The text that is to become better. */
  current: string;
  /** Of this text, worst first. */
  results: readonly TrialResult[];
}

type Message = { system: string; user: string };

/** The textual gradient of APO (arXiv 2305.03495): what is wrong with a prompt, in words. */
export function critiqueQuestion({ rules, current, results }: AboutPrompt): Message {
  return {
    system:
      'You find out why a prompt of an agent does not work. You name causes in the prompt, not in the tasks, and you are brief.',
    user: [
      `This is the prompt "${rules.name}":`,
      `<prompt>\n${current}\n</prompt>`,
      'With it, this happened:',
      reports(results),
      'What in the prompt, or missing from it, led to the failures? Answer with a short list of causes.',
    ].join('\n\n'),
  };
}

/** The step along the gradient: the prompt written anew so that the critique no longer holds. */
export function editQuestion({
  rules,
  current,
  critique,
}: Omit<AboutPrompt, 'results'> & { critique: string }): Message {
  return {
    system: 'You improve prompts of agents. You change what a critique asks for and leave the rest as it is.',
    user: [
      `This is the prompt "${rules.name}":`,
      `<prompt>\n${current}\n</prompt>`,
      'This is the critique:',
      `<critique>\n${critique.trim()}\n</critique>`,
      conditions(rules),
    ].join('\n\n'),
  };
}

/** GEPA's reflection (arXiv 2507.19457): from traces of a prompt to a new text of it, in one question. */
export function reflectionQuestion({ rules, current, results }: AboutPrompt): Message {
  return {
    system:
      'You improve prompts of agents. From what happened you learn rules that hold for all tasks of the kind, and write them into the prompt.',
    user: [
      `This is the prompt "${rules.name}":`,
      `<prompt>\n${current}\n</prompt>`,
      'With it, this happened:',
      reports(results),
      'Write the prompt anew so that the failures do not come again. Keep what works, and copy no answers of single tasks.',
      conditions(rules),
    ].join('\n\n'),
  };
}

function conditions({ placeholders, maxCharacters }: PromptRules): string {
  const places = placeholders.map((name) => `{{${name}}}`).join(', ');
  return [
    'Give the whole new text between <prompt> and </prompt>, in the language of the old one,',
    `with at most ${maxCharacters} characters${places === '' ? ' and without any {{place}}.' : `. It must contain ${places} as they are, and no other {{place}}.`}`,
  ].join(' ');
}

function reports(results: readonly TrialResult[]): string {
  const each = Math.floor(maxReportCharacters / Math.max(1, results.length));
  return results
    .map(({ report }, index) => `<example number="${index + 1}">\n${shortened(report, each)}\n</example>`)
    .join('\n');
}

function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const half = Math.floor((characters - 5) / 2);
  return `${text.slice(0, half)}\n[…]\n${text.slice(text.length - half)}`;
}
