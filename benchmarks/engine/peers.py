"""One peer on the same work as train.mjs and sample.mjs: python peers.py SETTING, whose last line is a JSON object."""

import json
import resource
import socket
import statistics
import sys
import threading
import time
import urllib.request

setting = json.loads(sys.argv[1])
quick = setting["quick"]
prompt_tokens, new_tokens = (32, 8) if quick else (128, 64)
rounds = 2 if quick else 4


def ids(length, row):
    return [100 + (i * 7919 + row * 31) % 40_000 for i in range(length)]


def report(result):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({**result, "peakRssGiB": round(peak, 2)}))


def train():
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(setting["threads"])
    model = AutoModelForCausalLM.from_pretrained(setting["forms"] + "/model", dtype=torch.float32)
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, lora_dropout=0, target_modules=targets))
    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    count, length, steps = 8, 256, 2 if quick else 12
    batch = torch.tensor([ids(length + 1, row) for row in range(count)])
    seconds = []
    for step in range(steps + 1):
        start = time.perf_counter()
        logits = model(batch[:, :-1]).logits
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step > 0:
            seconds.append(time.perf_counter() - start)
    tokens = count * length
    report({"tokensPerSecond": tokens / statistics.median(seconds), "bestTokensPerSecond": tokens / min(seconds)})


def generate():
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(setting["threads"])
    model = AutoModelForCausalLM.from_pretrained(setting["forms"] + "/model", dtype=torch.float32).eval()
    result = {"streams": {}}

    def run(prompts, tokens):
        batch = torch.tensor(prompts)
        options = {"max_new_tokens": tokens, "min_new_tokens": tokens, "do_sample": True, "top_k": 0, "top_p": 1.0, "pad_token_id": 0}
        with torch.no_grad():
            model.generate(batch, attention_mask=torch.ones_like(batch), **options)

    for streams in [1, 8, 32, 64]:
        times = []
        for round in range(rounds):
            start = time.perf_counter()
            run([ids(prompt_tokens, 1000 * round + stream) for stream in range(streams)], new_tokens)
            if round > 0:
                times.append(time.perf_counter() - start)
        result["streams"][streams] = streams * new_tokens / statistics.median(times)
    first = []
    for round in range(2 if quick else 6):
        start = time.perf_counter()
        run([ids(512, 77_000 + round)], 1)
        if round > 0:
            first.append((time.perf_counter() - start) * 1000)
    report({**result, "firstTokenMs": statistics.median(first)})


def llamacpp(form):
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = f"{setting['forms']}/{form}.gguf"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        parameters.port = probe.getsockname()[1]
    parameters.n_parallel = 64
    parameters.n_ctx = 64 * 640
    parameters.cpuparams.n_threads = setting["threads"]
    parameters.cpuparams_batch.n_threads = setting["threads"]
    server = xllamacpp.Server(parameters)

    def ask(prompt, tokens):
        body = {"prompt": prompt, "n_predict": tokens, "temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0, "ignore_eos": True, "cache_prompt": False}
        request = urllib.request.Request(f"http://127.0.0.1:{parameters.port}/completion", json.dumps(body).encode(), {"content-type": "application/json"})
        return json.loads(urllib.request.urlopen(request).read())["tokens_predicted"]

    result = {"streams": {}}
    for streams in [1, 8, 32, 64]:
        rates = []
        for round in range(rounds):
            made = []
            work = [
                threading.Thread(target=lambda p: made.append(ask(p, new_tokens)), args=[ids(prompt_tokens, 1000 * round + stream)])
                for stream in range(streams)
            ]
            start = time.perf_counter()
            for thread in work:
                thread.start()
            for thread in work:
                thread.join()
            if round > 0:
                rates.append(sum(made) / (time.perf_counter() - start))
        result["streams"][streams] = statistics.median(rates)
    first = []
    for round in range(2 if quick else 6):
        start = time.perf_counter()
        ask(ids(512, 77_000 + round), 1)
        if round > 0:
            first.append((time.perf_counter() - start) * 1000)
    report({**result, "firstTokenMs": statistics.median(first)})
    del server


{"train": train, "generate": generate}.get(setting["argument"], lambda: llamacpp(setting["argument"]))()
