import type { Json } from '../../store/types.ts';

/** What one call asked of a tool, and what became of it. */
export interface TurnTool {
  name: string;
  /** JSON as the model wrote it. */
  arguments: string;
  /** JSON schema of the arguments; `undefined`: the call declared no such tool. */
  schema: Json | undefined;
  /** What the tool failed with; null when it did not, or nothing tells. */
  error: string | null;
}

/** A call of an attempt as the rules see it. It is put together from the record and from spans. */
export interface Turn {
  callId: string;
  agentName: string | null;
  /** Tokens of its longest answer. */
  sampledTokens: number;
  /** Whether the call declared any tool at all. */
  hasTools: boolean;
  tools: TurnTool[];
  /** Errors of the agent's own code after this call and before the next one. */
  exceptions: string[];
}

/** One rule as a configuration has it. */
export interface RuleSettings {
  /** Factor of what the rule gives; its sign stays: −1 is a fault. */
  weight: number;
  /** Of `length`, in tokens: the longest answer that is wanted. */
  limit: number;
  /** Of `length`, in tokens: how long before the limit the punishment begins. */
  buffer: number;
}

export interface AutomaticRule {
  name: string;
  summary: string;
  /** For each turn a value from −1 to 0, in order. Pure: the same turns give the same values. */
  values: (turns: readonly Turn[], settings: RuleSettings) => number[];
}
