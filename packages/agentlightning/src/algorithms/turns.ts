import {
  type AutomaticAssigner,
  type AutomaticSettings,
  type AutomaticValue,
  automaticReturns,
  automaticValues,
  type EpisodeAttempt,
  type Turn,
  type TurnTool,
} from '../samples/index.ts';
import type { Json, JsonObject } from '../store/types.ts';
import { joinCalls, type ToolDefinition, type Triplet, toTriplets } from '../tracing/index.ts';

/** What the rules say of an attempt's calls, as a credit that is added to the advantages of step `step`. */
export function automaticAssigner(settings: AutomaticSettings, step: number): AutomaticAssigner {
  return (attempt) => automaticReturns(readTurns(attempt), settings, step);
}

/** Every fault of an attempt's calls, for people. */
export function findFaults(attempt: EpisodeAttempt, settings: AutomaticSettings): AutomaticValue[] {
  return settings.rules.length === 0 ? [] : automaticValues(readTurns(attempt), settings);
}

/** One turn for each call, in their order, from the record and from what spans tell of tools and exceptions. */
export function readTurns({ calls, spans = [] }: EpisodeAttempt): Turn[] {
  const told = spans.filter(({ late }) => late !== true);
  const answers = new Map<string | null, Triplet[]>();
  for (const triplet of toTriplets({ calls, spans: told, rewards: [] })) {
    answers.set(triplet.callId, [...(answers.get(triplet.callId) ?? []), triplet]);
  }
  const raised = exceptionsOf({ calls, spans: told });
  return calls.map(({ id, agentName, choices }, at): Turn => {
    const own = answers.get(id) ?? [];
    return {
      callId: id,
      agentName,
      sampledTokens: choices.reduce((most, { tokenIds }) => Math.max(most, tokenIds.length), 0),
      hasTools: own.some(({ prompt }) => prompt.tools.length > 0),
      tools: own.flatMap(toolsOf),
      exceptions: raised[at]!,
    };
  });
}

function toolsOf({ prompt, toolOutcomes }: Triplet): TurnTool[] {
  return toolOutcomes.map(({ call, error }) => ({
    name: call.function.name,
    arguments: call.function.arguments,
    schema: schemaOf(prompt.tools, call.function.name),
    error,
  }));
}

/** A tool without a schema takes anything; one that is not there is `undefined`. */
function schemaOf(tools: readonly ToolDefinition[], name: string): Json | undefined {
  const definition = tools.map((tool) => tool.function).find((tool) => isObject(tool) && tool.name === name);
  if (!isObject(definition)) return undefined;
  return definition.parameters ?? {};
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Exceptions outside of tools and model requests, by the last call that had begun. One before the first call is nobody's. */
function exceptionsOf({ calls, spans }: Required<Pick<EpisodeAttempt, 'calls' | 'spans'>>): string[][] {
  const found = calls.map((): string[] => []);
  for (const { span, reading } of joinCalls(calls, spans).nodes) {
    if (reading.kind === 'tool' || reading.kind === 'model') continue;
    for (const { name, time, attributes } of span.events) {
      if (name !== 'exception') continue;
      const at = calls.findLastIndex(({ startedAt }) => startedAt <= time);
      if (at >= 0) found[at]!.push(String(attributes['exception.message'] ?? attributes['exception.type'] ?? name));
    }
  }
  return found;
}
