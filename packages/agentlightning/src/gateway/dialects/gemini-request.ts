import type { Json, JsonObject } from '../../store/types.ts';
import type { ToolDefinition, Turn } from '../../upstreams/index.ts';
import { assertDepth, Fields } from '../fields.ts';
import { invalidField, RequestError } from '../request-error.ts';
import { maxChoices, objectValue } from './chat-request.ts';
import type { DialectRequest } from './dialect.ts';
import { readContents, readSystem } from './gemini-input.ts';
import { jsonSchema } from './gemini-schema.ts';
import { assertOffered, completeSampling, readSampling, type SamplingNames } from './sampling-fields.ts';

const sampling: SamplingNames = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  maxTokens: ['maxOutputTokens'],
  seed: 'seed',
  stop: 'stopSequences',
};

const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];
const modes: { [mode: string]: 'auto' | 'none' | 'required' } = {
  ...{ AUTO: 'auto', MODE_UNSPECIFIED: 'auto', VALIDATED: 'auto', NONE: 'none', ANY: 'required' },
};

/** @throws {RequestError} that names the field */
export function parseGeminiRequest({ body, path }: Pick<DialectRequest, 'body' | 'path'>): Turn {
  assertDepth(body);
  const { model, method } = readPath(path);
  const fields = Fields.of(body, '');
  const request = fields.object('generateContentRequest') ?? fields;
  const messages = [...readSystem(request), ...readContents(request)];
  const tools = readTools(request);
  const config = request.object('generationConfig') ?? Fields.of({}, 'generationConfig');
  const sent = readSampling(config, sampling);
  const turn = {
    model,
    messages,
    tools,
    toolChoice: readToolChoice(request, tools),
    sent,
    sampling: completeSampling(sent),
    n: config.number('candidateCount', { min: 1, max: maxChoices, integer: true }) ?? 1,
    stream: method === 'streamGenerateContent',
    includeUsage: true,
    wantLogProbs: config.boolean('responseLogprobs') ?? false,
  };
  for (const name of ['safetySettings', 'cachedContent', 'labels', 'model']) fields.value(name);
  return { ...turn, extra: { ...fields.unread(), ...penalties(config) } };
}

/** `/models/{model}:{method}`, where the model's name may have slashes and colons. */
function readPath(path: string): { model: string; method: string } {
  const match = /\/models\/(.+):([^:/]*)$/.exec(path);
  const [, model = '', method = ''] = match ?? [];
  if (methods.includes(method)) return { model, method };
  throw new RequestError({
    code: 'unknown_method',
    status: 404,
    message: `There is no ${path} here. A model has the methods ${methods.join(', ')}: /v1beta/models/MODEL:generateContent.`,
  });
}

/** In the names of chat completions, by which they are known elsewhere. */
function penalties(config: Fields): JsonObject {
  const extra: JsonObject = {};
  const presence = config.number('presencePenalty', { min: -100, max: 100 });
  if (presence !== undefined) extra.presence_penalty = presence;
  const frequency = config.number('frequencyPenalty', { min: -100, max: 100 });
  if (frequency !== undefined) extra.frequency_penalty = frequency;
  return extra;
}

function readTools(request: Fields): ToolDefinition[] {
  return (request.array('tools') ?? []).flatMap((value, index) => {
    const path = `tools[${index}]`;
    const tool = Fields.of(value, path);
    const declarations = tool.array('functionDeclarations') ?? [];
    const [other] = Object.entries(tool.unread()).find(([, setting]) => setting !== null) ?? [];
    if (other !== undefined) {
      throw invalidField(`${path}.${other}`, "left out: the tools of Google's own servers are not here");
    }
    return declarations.map((declaration, place) => readTool(declaration, `${path}.functionDeclarations[${place}]`));
  });
}

function readTool(value: Json, path: string): ToolDefinition {
  const declaration = Fields.of(value, path);
  const tool: ToolDefinition = { name: declaration.requiredString('name') };
  const description = declaration.string('description');
  if (description !== undefined) tool.description = description;
  const schema = declaration.value('parametersJsonSchema');
  const parameters = declaration.value('parameters');
  if (schema !== undefined) tool.parameters = objectValue(schema, `${path}.parametersJsonSchema`);
  else if (parameters !== undefined) tool.parameters = jsonSchema(objectValue(parameters, `${path}.parameters`));
  return tool;
}

function readToolChoice(request: Fields, tools: ToolDefinition[]): Turn['toolChoice'] {
  const config = request.object('toolConfig')?.object('functionCallingConfig');
  const mode = config?.string('mode');
  if (config === undefined || mode === undefined) return 'auto';
  const known = Object.hasOwn(modes, mode) ? modes[mode] : undefined;
  if (known === undefined) throw invalidField(config.path('mode'), `one of ${Object.keys(modes).join(', ')}`);
  const [only, ...more] = config.array('allowedFunctionNames') ?? [];
  if (known !== 'required' || only === undefined || more.length > 0) return known;
  if (typeof only !== 'string') throw invalidField(`${config.path('allowedFunctionNames')}[0]`, 'a string');
  assertOffered(only, tools, config.path('allowedFunctionNames'));
  return { name: only };
}
