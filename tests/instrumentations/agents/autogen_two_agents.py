"""openinference-instrumentation-autogen-agentchat on two agents of AutoGen."""

import asyncio
import json
import os

from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

from telemetry import provider, shutdown

AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)

from autogen_agentchat.agents import AssistantAgent  # noqa: E402
from autogen_ext.models.openai import OpenAIChatCompletionClient  # noqa: E402


def lookup(city: str) -> str:
    """Number of inhabitants of a city"""
    return json.dumps({"city": city, "inhabitants": 2100000}, separators=(",", ":"))


async def main() -> None:
    info = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}
    client = OpenAIChatCompletionClient(model=os.environ["AGL_MODEL"], model_info=info)
    researcher = AssistantAgent(
        "researcher", client, tools=[lookup], system_message="You are the researcher.", reflect_on_tool_use=True
    )
    writer = AssistantAgent("writer", client, system_message="You are the writer.")
    asked = await researcher.run(task="How many people live in Paris?")
    await writer.run(task=asked.messages[-1].content)
    await client.close()


asyncio.run(main())
shutdown()
