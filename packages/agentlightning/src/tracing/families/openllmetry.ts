import type { Json } from '../../store/types.ts';
import { asText, firstText, listOf, objectOf, parsed } from '../json.ts';
import type { Family, Reading } from './family.ts';

const kinds = new Map<string, Reading['kind']>([
  ['agent', 'agent'],
  ['tool', 'tool'],
]);

/** OpenLLMetry (traceloop): its workflows, agents and tools. Its model calls are GenAI's, of the generation it was made in. */
export const openLlmetry: Family = {
  name: 'OpenLLMetry',
  read({ attributes }) {
    const at = (name: string) => attributes[`traceloop.${name}`];
    const kind = kinds.get(firstText(at('span.kind')) ?? '') ?? null;
    if (kind === null) return {};
    const name = firstText(at('entity.name'));
    if (kind === 'agent') return { kind, agentName: name };
    const output = parsed(at('entity.output'));
    const input = parsed(at('entity.input'));
    return {
      kind,
      tool: {
        name,
        callId: null,
        arguments: input === undefined ? null : asText(argumentsOf(input)),
        result: output === undefined ? null : asText(output),
      },
    };
  },
};

/** Arguments stand in `{args, kwargs}`; LangChain's callbacks write `{inputs}` or `{input_str}`. */
function argumentsOf(input: Json): Json {
  const wrapper = objectOf(input);
  if (wrapper === null) return input;
  const named = objectOf(wrapper.kwargs);
  if (named !== null && Object.keys(named).length > 0) return named;
  const placed = listOf(wrapper.args);
  if (placed.length > 0) return placed.length === 1 ? placed[0]! : [...placed];
  return wrapper.inputs ?? wrapper.input_str ?? input;
}
