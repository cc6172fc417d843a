"""What every client is asked, word for word; the model answers by these words."""

import json
import os

PLAIN, STREAMED, TOOL = "PLAIN please", "STREAM please", "TOOL please"
MODEL = os.environ["AGL_MODEL"]
INSTRUCTIONS = "You are an agent in a test."
DESCRIPTION = "Adds one to a number."
TOOL_RESULT = "result 4242"
PARAMETERS = {"type": "object", "properties": {"a": {"type": "number"}}}


def report(plain, streamed, arguments, answer):
    """Prints what the client got, for the test to compare."""
    got = {"plain": plain, "streamed": streamed, "tool": {"arguments": arguments, "answer": answer}}
    print(json.dumps(got), flush=True)
    # Some clients keep threads or connections.
    os._exit(0)
