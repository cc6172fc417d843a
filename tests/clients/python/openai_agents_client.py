import asyncio

from agents import Agent, Runner, function_tool
from openai.types.responses import ResponseTextDeltaEvent

from report import DESCRIPTION, INSTRUCTIONS, MODEL, PLAIN, STREAMED, TOOL, TOOL_RESULT, report

given = {}


@function_tool(description_override=DESCRIPTION)
def add(a: int) -> str:
    given["a"] = a
    return TOOL_RESULT


async def main():
    agent = Agent(name="plain", instructions=INSTRUCTIONS, model=MODEL)
    plain = (await Runner.run(agent, PLAIN)).final_output
    result = Runner.run_streamed(agent, STREAMED)
    streamed = ""
    async for event in result.stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            streamed += event.data.delta
    with_tools = Agent(name="tools", instructions=INSTRUCTIONS, model=MODEL, tools=[add])
    answer = (await Runner.run(with_tools, TOOL)).final_output
    report(plain, streamed, given, answer)


asyncio.run(main())
