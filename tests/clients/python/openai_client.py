import json

from openai import OpenAI

from report import DESCRIPTION, MODEL, PARAMETERS, PLAIN, STREAMED, TOOL, TOOL_RESULT, report

client = OpenAI()


def ask(messages, **settings):
    return client.chat.completions.create(model=MODEL, messages=messages, **settings)


plain = ask([{"role": "user", "content": PLAIN}]).choices[0].message.content
stream = ask([{"role": "user", "content": STREAMED}], stream=True)
streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)

tools = [{"type": "function", "function": {"name": "add", "description": DESCRIPTION, "parameters": PARAMETERS}}]
messages = [{"role": "user", "content": TOOL}]
first = ask(messages, tools=tools).choices[0].message
call = first.tool_calls[0]
messages += [first, {"role": "tool", "tool_call_id": call.id, "content": TOOL_RESULT}]
answer = ask(messages, tools=tools).choices[0].message.content
report(plain, streamed, json.loads(call.function.arguments), answer)
