import asyncio
import json
import os

from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient

from report import DESCRIPTION, MODEL, PLAIN, STREAMED, TOOL, TOOL_RESULT, report


def add(a: int) -> str:
    return TOOL_RESULT


async def main():
    client = OpenAIChatCompletionClient(
        model=MODEL,
        # It reads no base URL from the environment for models that it does not know.
        base_url=os.environ["OPENAI_BASE_URL"],
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "structured_output": False,
            "family": "unknown",
        },
    )
    plain = (await client.create([UserMessage(content=PLAIN, source="user")])).content
    streamed = ""
    async for part in client.create_stream([UserMessage(content=STREAMED, source="user")]):
        if isinstance(part, str):
            streamed += part

    tools = [FunctionTool(add, description=DESCRIPTION)]
    messages = [UserMessage(content=TOOL, source="user")]
    first = await client.create(messages, tools=tools)
    call: FunctionCall = first.content[0]
    arguments = json.loads(call.arguments)
    result = await tools[0].run_json(arguments, CancellationToken())
    executed = FunctionExecutionResult(call_id=call.id, content=str(result), is_error=False, name="add")
    messages += [
        AssistantMessage(content=first.content, source="agent"),
        FunctionExecutionResultMessage(content=[executed]),
    ]
    second = await client.create(messages, tools=tools)
    report(plain, streamed, arguments, second.content)


asyncio.run(main())
