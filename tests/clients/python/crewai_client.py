import json

from crewai import LLM

from report import DESCRIPTION, MODEL, PARAMETERS, PLAIN, STREAMED, TOOL, TOOL_RESULT, report

given = {}


def add(a):
    given["a"] = a
    return TOOL_RESULT


settings = {"model": MODEL, "provider": "openai"}
plain = LLM(**settings).call(PLAIN)
streamed = LLM(**settings, stream=True).call(STREAMED)

tools = [{"type": "function", "function": {"name": "add", "description": DESCRIPTION, "parameters": PARAMETERS}}]
llm = LLM(**settings)
messages = [{"role": "user", "content": TOOL}]
result = llm.call(messages, tools=tools, available_functions={"add": add})
call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": json.dumps(given)}}
messages += [
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "call_1", "content": str(result)},
]
report(plain, streamed, given, llm.call(messages, tools=tools, available_functions={"add": add}))
