"""Vectors of Hugging Face's Python `tokenizers` for packages/engine/src/text: what it learns from the corpus, and how it
encodes and decodes with the tokenizer that our trainer wrote.

    python -m venv venv && venv/bin/pip install tokenizers==0.23.3
    node scripts/vectors/tokenizer-fixture.mjs
    venv/bin/python scripts/vectors/tokenizer.py
"""

import json
import random
from pathlib import Path

import tokenizers
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

folder = Path(__file__).parents[2] / "packages/engine/vectors/tokenizer"
corpus = (folder / "corpus.txt").read_text(encoding="utf-8")
ours = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
specials = [token["content"] for token in ours["added_tokens"]]


def trained(size):
    tokenizer = Tokenizer(models.BPE())
    digits, words, _ = ours["pre_tokenizer"]["pretokenizers"]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(digits["pattern"]["Regex"]), "isolated"),
            pre_tokenizers.Split(Regex(words["pattern"]["Regex"]), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([corpus], trainer)
    return json.loads(tokenizer.to_str())["model"]


texts = [
    "",
    " ",
    "  ",
    "\n",
    "\n\n  \n",
    "\t\ttabs\tand spaces  ",
    "Mia has 12 apples and buys 7 more.",
    "1234567890",
    "3.14159 and 2,718 and 1e-9",
    "12+7=19",
    "x=12+7;y=x*2",
    " 5",
    "5 ",
    "abc123def",
    "½ ² Ⅷ ٣ १२ ㊷",
    "don't we're I'll they've it's I'm he'd DON'T",
    "The answer is 19.",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "abababababab banana bananas",
    "Zwölf süße Äpfel",
    "Zwo\u0308lf (decomposed)",
    "Élise préfère l'été",
    "Маша купила семь яблок",
    "りんごはいくつ残っていますか。",
    "小明有十二个苹果",
    "תפוחים تفاحات ส้ม 사과",
    "🍎",
    "🍎🍎👍🏽👩‍👩‍👧‍👦🏳️‍🌈",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𠜎",
    "\u00a0no-break\u2003em\u3000ideographic",
    "next\u0085line",
    "\ufeffbyte order mark\ufeff inside",
    "zero\u200bwidth\u200djoiner\u2060",
    "null\u0000byte \u0007 \u001b[0m",
    "\r\nwindows\r\nlines\r\n",
    "\u2028line\u2029paragraph",
    "\ufffd replacement",
    "<|im_end|>",
    "a<|im_end|>b",
    " <|im_end|> ",
    "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n",
    "<tool_call>{\"name\": \"calculator\", \"arguments\": {\"expression\": \"12+7\"}}</tool_call>",
    "<|im_start|><|im_start|><|im_end|><|pad|>",
    "<|im_start",
    "<|im_end|",
    "<<|im_end|>>",
    "<|IM_END|>",
    "<tool_call><|im_end|></tool_call>1<|pad|>2",
    "if (x > 0) {\n    return x * 2;\n}\n",
    "!!!???...---===",
    "https://example.org/a?b=c&d=%20#e",
    "The quick brown fox jumps over the lazy dog. " * 3,
    "e\u0301\u0301\u0301 combining",
    "ﷺ ﬁ Ǆ ß İ ı",
]

tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
encoded = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in texts]

rng = random.Random(1)
size = tokenizer.get_vocab_size()
rows = [[rng.randrange(size) for _ in range(rng.randrange(1, 24))] for _ in range(40)]
rows += [[rng.randrange(5, 261) for _ in range(12)] for _ in range(40)]  # single bytes: mostly invalid UTF-8
decoded = [
    {
        "ids": ids,
        "text": tokenizer.decode(ids, skip_special_tokens=False),
        "skipped": tokenizer.decode(ids, skip_special_tokens=True),
    }
    for ids in rows
]

learnt = []
for vocabulary_size in (300, 480, 2000):
    model = trained(vocabulary_size)
    tokens = [token for token, _ in sorted(model["vocab"].items(), key=lambda entry: entry[1])]
    learnt.append({"vocabularySize": vocabulary_size, "tokens": tokens, "merges": [" ".join(m) for m in model["merges"]]})

vectors = {"by": f"tokenizers {tokenizers.__version__}", "learnt": learnt, "encoded": encoded, "decoded": decoded}
(folder / "vectors.json").write_text(json.dumps(vectors, ensure_ascii=True, indent=0) + "\n", encoding="utf-8")
print(len(encoded), "texts,", len(decoded), "id rows,", [len(model["merges"]) for model in learnt], "merges")
