import type { Json, JsonObject } from '../../store/types.ts';
import { chatTools } from '../forms/chat.ts';
import { genAiInstructions, genAiMessages } from '../forms/gen-ai.ts';
import { objectsOf, parsed } from '../json.ts';
import { type Family, finishReason, type Reading } from './family.ts';
import { finishReasonsOf, genAi } from './gen-ai.ts';

const detailsEvent = 'gen_ai.client.inference.operation.details';

/**
 * Third generation, 1.37 and later: whole messages as attributes (JSON texts on spans, structures on events), on the span or on the
 * event `gen_ai.client.inference.operation.details`.
 */
export const genAiMessageAttributes: Family = {
  name: 'OpenTelemetry GenAI, messages as attributes',
  read(view) {
    const details = view.events.find(({ name }) => name === detailsEvent);
    const onSpan = contentOf(view.attributes);
    if (details === undefined) return onSpan;
    const inEvent = contentOf(details.attributes);
    return {
      ...genAi.read({ ...view, attributes: details.attributes }),
      prompt: onSpan.prompt ?? inEvent.prompt,
      answers: onSpan.answers ?? inEvent.answers,
      tools: onSpan.tools ?? inEvent.tools,
    };
  },
};

function contentOf(attributes: JsonObject): Pick<Reading, 'prompt' | 'answers' | 'tools'> {
  const at = (name: string): Json | undefined => parsed(attributes[`gen_ai.${name}`]);
  const prompt = [...genAiInstructions(at('system_instructions')), ...genAiMessages(at('input.messages'))];
  const output = at('output.messages');
  const reasons = finishReasonsOf(attributes);
  const answers = genAiMessages(output).map((message, index) => ({
    message: { ...message, role: 'assistant' },
    finishReason: finishReason(objectsOf(output)[index]?.finish_reason ?? reasons[index]),
  }));
  const tools = chatTools(at('tool.definitions'));
  return {
    prompt: prompt.length > 0 ? prompt : null,
    answers: answers.length > 0 ? answers : null,
    tools: tools.length > 0 ? tools : null,
  };
}
