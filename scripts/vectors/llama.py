"""Two tiny random models as transformers saves them, with the log probs that transformers computes in float64, and one
file of every float type, for packages/engine/src/files.

    python -m venv venv && venv/bin/pip install torch==2.15.0 transformers==5.24.0
    node scripts/vectors/tokenizer-fixture.mjs
    venv/bin/python scripts/vectors/llama.py
"""

import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

vectors = Path(__file__).parents[2] / "packages/engine/vectors"
tokenizer = AutoTokenizer.from_pretrained(vectors / "tokenizer")
messages = [{"role": "user", "content": "Mia has 12 apples and buys 7 more."}]
prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]


def write(name, dtype, save_options, **settings):
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=480,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=6,
        intermediate_size=24,
        max_position_embeddings=128,
        rms_norm_eps=1e-5,
        eos_token_id=tokenizer.eos_token_id,
        **settings,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():  # far from flat, norms different from 1
            parameter.copy_(torch.randn_like(parameter) * 0.5 + (1 if parameter.dim() == 1 else 0))
    model.to(dtype).save_pretrained(vectors / name, **save_options)
    tokenizer.save_pretrained(vectors / name)
    stored = LlamaForCausalLM.from_pretrained(vectors / name)  # `to` above has also rounded the rotary frequencies
    with torch.no_grad():
        logits = stored.double()(torch.tensor([ids])).logits[0]
    log_probs = torch.log_softmax(logits, dim=-1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
    expected = {"by": f"transformers {transformers.__version__}", "prompt": prompt, "ids": ids, "logProbs": log_probs.tolist()}
    (vectors / name / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


write("llama-shards", torch.float32, {"max_shard_size": "20KB"}, tie_word_embeddings=True, rope_theta=10000.0)
write("llama-bfloat16", torch.bfloat16, {}, tie_word_embeddings=False, rope_theta=500000.0)

torch.manual_seed(2)
values = torch.cat(
    [
        torch.randn(500) * torch.logspace(-12, 4, 500),
        torch.tensor([0.0, -0.0, 1.0, 1.00390625, 1.01171875, float("inf"), float("-inf"), 65504.0, 6e-8, 3.4e38]),
    ]
)
save_file(
    {"f32": values, "bf16": values.to(torch.bfloat16), "f16": values.to(torch.float16)},
    vectors / "float-types.safetensors",
    metadata={"by": f"torch {torch.__version__}"},
)
