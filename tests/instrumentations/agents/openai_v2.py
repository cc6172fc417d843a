"""opentelemetry-instrumentation-openai-v2; agents and tools are spans of the GenAI conventions that the program makes itself."""

import json
import os

from opentelemetry import trace
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

from telemetry import shutdown

OpenAIInstrumentor().instrument()

from openai import OpenAI  # noqa: E402 - after it was instrumented

tracer = trace.get_tracer("agent")
client = OpenAI()
model = os.environ["AGL_MODEL"]
lookup = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Number of inhabitants of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def agent(name):
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return tracer.start_as_current_span(f"invoke_agent {name}", attributes=attributes)


with agent("researcher"):
    messages = [
        {"role": "system", "content": "You are the researcher."},
        {"role": "user", "content": "How many people live in Paris?"},
    ]
    asked = client.chat.completions.create(model=model, messages=messages, tools=[lookup]).choices[0].message
    messages.append(asked.model_dump(exclude_none=True))
    for call in asked.tool_calls:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "lookup",
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.call.arguments": call.function.arguments,
        }
        with tracer.start_as_current_span("execute_tool lookup", attributes=attributes) as span:
            given = json.loads(call.function.arguments)
            result = json.dumps({"city": given["city"], "inhabitants": 2100000}, separators=(",", ":"))
            span.set_attribute("gen_ai.tool.call.result", result)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    facts = client.chat.completions.create(model=model, messages=messages, tools=[lookup]).choices[0].message.content

with agent("writer"):
    messages = [{"role": "system", "content": "You are the writer."}, {"role": "user", "content": facts}]
    # Streamed: the span ends with the last chunk.
    for _ in client.chat.completions.create(model=model, messages=messages, stream=True):
        pass

shutdown()
