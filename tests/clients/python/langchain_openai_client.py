from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from report import DESCRIPTION, MODEL, PLAIN, STREAMED, TOOL, TOOL_RESULT, report


@tool(description=DESCRIPTION)
def add(a: int) -> str:
    return TOOL_RESULT


chat = ChatOpenAI(model=MODEL)
plain = chat.invoke(PLAIN).text
streamed = "".join(chunk.text for chunk in chat.stream(STREAMED))

with_tools = chat.bind_tools([add])
messages = [HumanMessage(TOOL)]
first = with_tools.invoke(messages)
call = first.tool_calls[0]
messages += [first, add.invoke(call)]
report(plain, streamed, call["args"], with_tools.invoke(messages).text)
