"""A thousand conversations with tools and Unicode, rendered and tokenised by transformers: python conversations.py FOLDER OUT.json

FOLDER holds tokenizer.json, tokenizer_config.json and chat_template.jinja; templates differ in what they take, so a conversation
that one refuses is written with the text null.
"""

import json
import random
import sys
from pathlib import Path

from transformers import AutoTokenizer

folder, out = Path(sys.argv[1]), Path(sys.argv[2])
tools_too = "tool" in (folder / "chat_template.jinja").read_text(encoding="utf-8")
tokenizer = AutoTokenizer.from_pretrained(folder)
dice = random.Random(20)
words = """the of 12 3.14 -7 1,000,000 x² naïve café Straße ﬁne Ǆ ΑΒΓ привет שלום سلام हिन्दी ไทย 日本語 中文字 한국어 👩‍🚀 🇩🇪 ❤️ 👍🏽 e\u0301 \u200b \u00a0 \u2028
\t \n \n\n \r\n '' "quoted" it's we'LL DON'T <b> </s> <|im_start|> <|im_end|> <|endoftext|> {{x}} {% if %} \\n \\ // `code` --- … – ½ Ⅷ ١٢٣ ４２ \ufeff \x85 \x00 \x7f
foo_bar CamelCase http://a.b/c?d=e&f=g#h user@example.org aaaaaaaaaaaaaaaaaaaaaaaa""".split(" ")


def text():
    return "".join(dice.choice(words) + dice.choice(["", " ", "  ", "\n"]) for _ in range(dice.randrange(0, 25)))


def tool():
    kind = dice.choice(["string", "number", "boolean"])
    function = {"name": dice.choice(["calculator", "search", "wetter"]), "description": text()}
    return {"type": "function", "function": {**function, "parameters": {"type": "object", "properties": {"x": {"type": kind, "description": text()}}, "required": ["x"]}}}


def call():
    arguments = dice.choice([{"x": text()}, {"x": dice.randrange(10**6)}, {"x": 1.5, "y": [True, None, {"é": "ü"}]}])
    return {"id": "c1", "type": "function", "function": {"name": "calculator", "arguments": arguments}}


def conversation():
    messages = [{"role": "system", "content": text()}] if dice.random() < 0.5 else []
    for _ in range(dice.randrange(1, 4)):
        messages.append({"role": "user", "content": text()})
        if tools_too and dice.random() < 0.5:
            messages.append({"role": "assistant", "content": text(), "tool_calls": [call() for _ in range(dice.randrange(1, 3))]})
            messages.append({"role": "tool", "tool_call_id": "c1", "content": text()})
        if dice.random() < 0.7:
            messages.append({"role": "assistant", "content": text()})
    return messages


cases = []
for _ in range(1000):
    messages = conversation()
    tools = [tool() for _ in range(dice.randrange(1, 3))] if tools_too and dice.random() < 0.6 else []
    prompt = dice.random() < 0.5
    rendered = tokenizer.apply_chat_template(messages, tools=tools or None, add_generation_prompt=prompt, tokenize=False)
    ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    cases.append({"messages": messages, "tools": tools, "addGenerationPrompt": prompt, "text": rendered, "ids": ids})
out.write_text(json.dumps(cases))
