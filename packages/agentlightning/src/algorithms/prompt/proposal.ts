import { promptFault } from '../../prompts/index.ts';
import { otherLanguage } from './language.ts';

/** Why an answer of the critique model did not become a candidate. Counted, never passed over. */
export const refusalReasons = {
  critique_empty: 'the critique model answered nothing',
  critique_unreadable: 'the answer has no text between <prompt> and </prompt>',
  critique_other_language: 'the new text is in another language than the old one',
  placeholder_lost: 'the new text has lost a place',
  placeholder_unknown: 'the new text has a place that the prompt does not declare',
  placeholders_contradictory: 'a place is written in two ways',
  prompt_too_long: 'the new text is longer than the limit',
  prompt_unchanged: 'the new text is the old one',
  candidate_known: 'the same texts have been tried already',
} as const;

export type RefusalReason = keyof typeof refusalReasons;

export interface ProposalRules {
  /** The text that is to become better. */
  current: string;
  placeholders: readonly string[];
  maxCharacters: number;
}

export type Proposal = { text: string } | { refused: RefusalReason };

const faultReasons = {
  prompt_empty: 'critique_empty',
  prompt_placeholder_lost: 'placeholder_lost',
  prompt_placeholder_unknown: 'placeholder_unknown',
  prompt_placeholders_contradictory: 'placeholders_contradictory',
} as const satisfies Record<string, RefusalReason>;

/**
 * The new text of an answer: what stands in its last `<prompt>…</prompt>`, or in its only fenced block. What a model
 * thought before it, in `<think>…</think>`, is not looked at.
 */
export function readProposal(answer: string, { current, placeholders, maxCharacters }: ProposalRules): Proposal {
  const said = answer.replaceAll(/<think>[\s\S]*?<\/think>/g, '').trim();
  if (said === '') return { refused: 'critique_empty' };
  const text = proposedText(said);
  if (text === null) return { refused: 'critique_unreadable' };
  const fault = promptFault({ template: text, placeholders: [...placeholders] });
  if (fault !== null) return { refused: faultReasons[fault.code] };
  if (text === current.trim()) return { refused: 'prompt_unchanged' };
  if (text.length > maxCharacters) return { refused: 'prompt_too_long' };
  if (otherLanguage(current, text) !== null) return { refused: 'critique_other_language' };
  return { text };
}

function proposedText(said: string): string | null {
  const tagged = [...said.matchAll(/<prompt>((?:(?!<prompt>)[\s\S])*?)<\/prompt>/g)].at(-1)?.[1];
  if (tagged !== undefined) return tagged.trim();
  const fenced = [...said.matchAll(/^```[^\n`]*\n([\s\S]*?)^```[ \t]*$/gm)];
  return fenced.length === 1 ? fenced[0]![1]!.trim() : null;
}
