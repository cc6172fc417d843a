"""openinference-instrumentation-langchain on two agents of LangChain. With LANGSMITH_OTEL_ENABLED LangSmith's own export instead."""

import json
import os

from telemetry import provider, shutdown

langsmith = os.environ.get("LANGSMITH_OTEL_ENABLED") == "true"
if not langsmith:
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)

from langchain.agents import create_agent  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402


@tool
def lookup(city: str) -> str:
    """Number of inhabitants of a city"""
    return json.dumps({"city": city, "inhabitants": 2100000}, separators=(",", ":"))


model = ChatOpenAI(model=os.environ["AGL_MODEL"])
researcher = create_agent(model, tools=[lookup], system_prompt="You are the researcher.", name="researcher")
writer = create_agent(model, tools=[], system_prompt="You are the writer.", name="writer")

asked = researcher.invoke({"messages": [{"role": "user", "content": "How many people live in Paris?"}]})
writer.invoke({"messages": [{"role": "user", "content": asked["messages"][-1].content}]})

if langsmith:
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
shutdown()
