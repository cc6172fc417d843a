import { type Candidate, createCandidate, type Origin } from './candidate.ts';
import type { PromptRules, SearchPorts } from './ports.ts';
import { readProposal } from './proposal.ts';

export interface ProposalContext {
  ports: Pick<SearchPorts, 'refused' | 'born'>;
  rules: PromptRules;
  parent: Candidate;
  kind: Extract<Origin, { prompt: string }>['kind'];
  /** Ids of all candidates so far. */
  known: ReadonlySet<string>;
}

/** The candidate that an answer leads to; null when the answer is refused, which is counted. */
export async function candidateFrom(
  answer: string,
  { ports, rules, parent, kind, known }: ProposalContext,
): Promise<Candidate | null> {
  const { name, placeholders, maxCharacters } = rules;
  const proposal = readProposal(answer, { current: parent.texts[name]!, placeholders, maxCharacters });
  if ('refused' in proposal) {
    ports.refused(proposal.refused, answer);
    return null;
  }
  const candidate = createCandidate({
    texts: { ...parent.texts, [name]: proposal.text },
    parents: [parent.id],
    origin: { kind, prompt: name },
  });
  if (known.has(candidate.id)) {
    ports.refused('candidate_known', answer);
    return null;
  }
  await ports.born(candidate);
  return candidate;
}
