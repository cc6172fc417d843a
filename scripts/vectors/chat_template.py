"""Vectors of Python's jinja2, set up as transformers sets it up, for the default chat template of packages/engine/src/text.

    python -m venv venv && venv/bin/pip install jinja2==3.1.6
    node scripts/vectors/tokenizer-fixture.mjs
    venv/bin/python scripts/vectors/chat_template.py
"""

import json
from pathlib import Path

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

folder = Path(__file__).parents[2] / "packages/engine/vectors/tokenizer"
environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
template = environment.from_string((folder / "chat_template.jinja").read_text(encoding="utf-8"))

calculator = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "Evaluates an expression.",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
    },
}
search = {"name": "search", "parameters": {"properties": {"query": {}, "limit": {}}}}
now = {"type": "function", "function": {"name": "now"}}
call = {"id": "c1", "type": "function", "function": {"name": "calculator", "arguments": {"expression": "12+7"}}}
odd = {"function": {"name": 'say "ü"', "arguments": {"n": 1.5, "list": [1, True, None], "inner": {"é": "\n"}}}}
broken = {"function": {"name": "calculator", "arguments": "{12+"}}
user = {"role": "user", "content": "What is 12+7?"}
conversations = [
    ([], []),
    ([user], []),
    ([user], [calculator]),
    ([{"role": "system", "content": "Be brief."}, user], []),
    ([{"role": "system", "content": "Be brief."}, user], [calculator, search, now]),
    ([{"role": "developer", "content": "Be brief."}, user], [calculator]),
    ([user, {"role": "assistant", "content": "", "tool_calls": [call]}], [calculator]),
    ([user, {"role": "assistant", "content": "Let me see.\n", "tool_calls": [call, odd, broken]}], [calculator]),
    (
        [
            user,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "19"},
            {"role": "assistant", "content": "The answer is 19."},
            {"role": "system", "content": "Now in German."},
            {"role": "user", "content": "  Und {{ 3 }} + ü?\n\n"},
        ],
        [calculator],
    ),
]
vectors = [
    {
        "messages": messages,
        "tools": tools,
        "addGenerationPrompt": prompt,
        "text": template.render(messages=messages, tools=tools or None, add_generation_prompt=prompt),
    }
    for messages, tools in conversations
    for prompt in (False, True)
]
(folder / "chat.json").write_text(json.dumps(vectors, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
print(len(vectors), "renderings")
