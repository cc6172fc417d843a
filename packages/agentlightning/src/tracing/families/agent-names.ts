import { firstText } from '../json.ts';
import type { Family } from './family.ts';

/** Frameworks that write nothing else of interest, but say in one attribute whose span it is. */
const attributesWithNames = [
  'agent.name', // AgentOps on the Agents SDK
  'recipient_agent_type', // AutoGen's teams
  'executor.id', // Microsoft's Agent Framework
  'langchain.chain.type', // AgentOps on LangGraph
];

/** Names of agents as the Python project's 0.x found them. */
export const agentNames: Family = {
  name: 'names of agents',
  read({ span, attributes }) {
    const known = firstText(...attributesWithNames.map((name) => attributes[name]));
    const ofAgentOps = attributes['agentops.span.kind'] === 'agent' ? firstText(attributes['operation.name']) : null;
    const ofWeave = span.name.startsWith('langchain.Chain.') ? firstText(attributes.lc_name) : null;
    const agentName = known ?? ofAgentOps ?? ofWeave;
    return {
      ...(agentName === null ? {} : { agentName }),
      ...(attributes['agentops.span.kind'] === 'agent' ? { kind: 'agent' } : {}),
    };
  },
};
