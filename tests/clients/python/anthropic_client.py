from anthropic import Anthropic

from report import DESCRIPTION, MODEL, PARAMETERS, PLAIN, STREAMED, TOOL, TOOL_RESULT, report

client = Anthropic()
settings = {"model": MODEL, "max_tokens": 400}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


plain = text_of(client.messages.create(**settings, messages=[{"role": "user", "content": PLAIN}]))
with client.messages.stream(**settings, messages=[{"role": "user", "content": STREAMED}]) as stream:
    streamed = "".join(stream.text_stream)

tools = [{"name": "add", "description": DESCRIPTION, "input_schema": PARAMETERS}]
messages = [{"role": "user", "content": TOOL}]
first = client.messages.create(**settings, messages=messages, tools=tools)
call = next(block for block in first.content if block.type == "tool_use")
result = {"type": "tool_result", "tool_use_id": call.id, "content": TOOL_RESULT}
messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
answer = text_of(client.messages.create(**settings, messages=messages, tools=tools))
report(plain, streamed, call.input, answer)
