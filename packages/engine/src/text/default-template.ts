/**
 * ChatML with Hermes-style tool calls (`<tool_call>{"name": …, "arguments": {…}}</tool_call>`), kept short for models of
 * a few million parameters: tools are one line of names and parameters, and nothing stands between a message's text and its calls.
 *
 * Prefix-stable: every message is rendered by itself and as it is, so the text of a conversation that ends with an
 * assistant message is a prefix of every continuation of it, and token ids can be extended instead of made again.
 */
export const defaultChatTemplate = [
  "{%- set first_is_system = messages and messages[0].role in ['system', 'developer'] -%}",
  '{%- macro tool_line() -%}',
  "{{- 'Tools: ' -}}",
  '{%- for tool in tools -%}',
  '{%- set function = tool.function or tool -%}',
  "{{- function.name + '(' -}}",
  '{%- for name in (function.parameters or {}).properties or {} -%}',
  "{{- name -}}{{- '' if loop.last else ', ' -}}",
  '{%- endfor -%}',
  "{{- ')' -}}{{- '' if loop.last else ', ' -}}",
  '{%- endfor -%}',
  '{%- endmacro -%}',
  '{%- if tools and not first_is_system -%}',
  "{{- '<|im_start|>system\\n' + tool_line() + '<|im_end|>\\n' -}}",
  '{%- endif -%}',
  '{%- for message in messages -%}',
  "{%- set role = 'system' if message.role == 'developer' else message.role -%}",
  "{{- '<|im_start|>' + role + '\\n' + (message.content or '') -}}",
  '{%- if tools and loop.first and first_is_system -%}',
  "{{- '\\n' + tool_line() -}}",
  '{%- endif -%}',
  '{%- for call in message.tool_calls or [] -%}',
  '{%- set function = call.function or call -%}',
  '{%- set arguments = function.arguments if function.arguments is string else function.arguments | tojson -%}',
  "{{- '<tool_call>{\"name\": ' + function.name | tojson + ', \"arguments\": ' + arguments + '}</tool_call>' -}}",
  '{%- endfor -%}',
  "{{- '<|im_end|>\\n' -}}",
  '{%- endfor -%}',
  '{%- if add_generation_prompt -%}',
  "{{- '<|im_start|>assistant\\n' -}}",
  '{%- endif -%}',
  '',
].join('\n');
