"""Loads what exports.mjs wrote into transformers, peft and llama.cpp, and compares 50 greedy continuations: python exports.py BASE.gguf OUT

Where the two best tokens are nearer than 1e-3 in a foreign program's own logits, rounding decides between them, and what follows is
not compared; these cases are counted. Q8_0 changes the weights, so there only the loading and the first tokens are shown.
"""

import json
import socket
import sys
import urllib.request
from pathlib import Path

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

base, out = Path(sys.argv[1]), Path(sys.argv[2])
cases = json.loads((out / "cases.json").read_text())
length = len(cases[0]["answer"])
failed = False


def report(name, equal, ties, must):
    global failed
    print(json.dumps({"loadedBy": name, "prompts": len(cases), "equal": equal, "undecided": ties}), flush=True)
    failed = failed or (must and equal + ties != len(cases)) or (must and equal < 0.9 * len(cases))


@torch.no_grad()
def with_torch(name, model):
    equal = ties = 0
    for case in cases:
        logits = model(torch.tensor([case["prompt"] + case["answer"]])).logits[0, len(case["prompt"]) - 1 : -1]
        best = logits.topk(2, dim=-1)
        wrong = [i for i in range(length) if best.indices[i, 0].item() != case["answer"][i]]
        if not wrong:
            equal += 1
        elif (best.values[wrong[0], 0] - best.values[wrong[0], 1]).item() < 1e-3:
            ties += 1
    report(name, equal, ties, must=True)


def with_llamacpp(name, path, must):
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        parameters.port = probe.getsockname()[1]
    parameters.n_ctx = 512
    server = xllamacpp.Server(parameters)
    equal = ties = 0
    for case in cases:
        request = {"prompt": case["prompt"], "n_predict": length, "temperature": 0, "return_tokens": True, "ignore_eos": False, "n_probs": 2, "cache_prompt": False}
        answer = json.loads(urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{parameters.port}/completion", json.dumps(request).encode(), {"content-type": "application/json"})).read())
        tokens = answer["tokens"]
        same = tokens == case["answer"][: len(tokens)]
        if same:
            equal += 1
            continue
        at = next(i for i, (a, b) in enumerate(zip(tokens, case["answer"])) if a != b)
        top = answer["completion_probabilities"][at]["top_logprobs"]
        ties += top[0]["logprob"] - top[1]["logprob"] < (1e-2 if must else 0.5)
    report(name, equal, ties, must)
    del server


load = {"dtype": torch.float32, "attn_implementation": "eager"}
with_torch("transformers", AutoModelForCausalLM.from_pretrained(out / "model", **load))
plain = AutoModelForCausalLM.from_pretrained(base.parent, gguf_file=base.name, **load)
with_torch("peft", PeftModel.from_pretrained(plain, out / "adapter"))
del plain
with_llamacpp("llama.cpp gguf-f32", out / "gguf-f32.gguf", must=True)
with_llamacpp("llama.cpp gguf-f16", out / "gguf-f16.gguf", must=False)
with_llamacpp("llama.cpp gguf-q8_0", out / "gguf-q8_0.gguf", must=False)
sys.exit(failed)
