"""One tiny random model of each family as transformers saves it, with the log probs and gradients that transformers computes
in float64, and the rotary frequencies of every form of scaling; for packages/engine/src/files/families and model/rope.ts.

    python -m venv venv && venv/bin/pip install torch==2.15.0 transformers==5.24.0
    node scripts/vectors/tokenizer-fixture.mjs
    venv/bin/python scripts/vectors/families.py
"""

import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

vectors = Path(__file__).parents[2] / "packages/engine/vectors"
tokenizer = AutoTokenizer.from_pretrained(vectors / "tokenizer")
ids = tokenizer("Mia has 12 apples and buys 7 more.", add_special_tokens=False)["input_ids"][:20]
by = f"transformers {transformers.__version__}"
sizes = dict(
    vocab_size=480,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    intermediate_size=24,
    max_position_embeddings=64,
    bos_token_id=None,
    pad_token_id=None,
    eos_token_id=tokenizer.eos_token_id,
)
two_kinds = dict(sliding_window=5, layer_types=["sliding_attention", "full_attention"])
families = {
    "mistral": dict(sliding_window=5),
    "qwen2": dict(use_sliding_window=True, sliding_window=5, max_window_layers=1, tie_word_embeddings=True),
    "qwen3": dict(rope_theta=1e6),
    "gemma2": dict(two_kinds, attn_logit_softcapping=2.0, final_logit_softcapping=3.0, query_pre_attn_scalar=5),
    "gemma3_text": dict(two_kinds, rope_scaling={"rope_type": "linear", "factor": 8.0}, query_pre_attn_scalar=5),
    "phi3": dict(
        hidden_size=32,  # Phi-3 knows no head_dim: 32 / 4 = 8, of which 4 turn
        partial_rotary_factor=0.5,
        sliding_window=5,
        original_max_position_embeddings=32,
        rope_scaling={"type": "longrope", "short_factor": [1.5, 2.0], "long_factor": [2.0, 3.0]},
    ),
}


def write(name, settings):
    torch.manual_seed(1)
    own = {key: value for key, value in sizes.items() if name != "phi3" or key != "head_dim"}
    config = transformers.AutoConfig.for_model(name, **{**own, **settings})
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():  # far from flat, norms different from 1
            parameter.copy_(torch.randn_like(parameter) * 0.4 + (0.8 if parameter.dim() == 1 else 0))
    folder = vectors / "families" / name
    model.to(torch.bfloat16).save_pretrained(folder)
    stored = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    logits = stored(torch.tensor([ids])).logits[0].double()
    log_probs = torch.log_softmax(logits, dim=-1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
    (-log_probs.sum()).backward()
    expected = {"by": by, "ids": ids, "logProbs": log_probs.tolist()}
    (folder / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")
    gradients = {key: parameter.grad.float().contiguous() for key, parameter in stored.named_parameters()}
    save_file(gradients, folder / "gradients.safetensors", metadata={"by": by})


for name, settings in families.items():
    write(name, settings)

scalings = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    "yarn-mscale": {
        "rope_type": "yarn",
        "factor": 40.0,
        "beta_fast": 16.0,
        "beta_slow": 2.0,
        "mscale": 0.7,
        "mscale_all_dim": 1.0,
        "truncate": False,
        "original_max_position_embeddings": 4096,
    },
    "longrope": {
        "rope_type": "longrope",
        "short_factor": [1 + i / 8 for i in range(32)],
        "long_factor": [2 + i / 8 for i in range(32)],
        "original_max_position_embeddings": 4096,
    },
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
}
ropes = []
for name, scaling in scalings.items():
    maximum = 4096 if name == "dynamic" else 131072
    shape = dict(hidden_size=256, num_attention_heads=4, head_dim=64, max_position_embeddings=maximum)
    config = LlamaConfig(**shape, rope_parameters={"rope_theta": 500000.0, **scaling})
    frequencies, factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, "cpu")
    json_config = {**shape, "rope_theta": 500000.0, "rope_scaling": scaling}
    ropes.append({"name": name, "config": json_config, "frequencies": frequencies.tolist(), "attentionFactor": factor})
(vectors / "rope.json").write_text(json.dumps({"by": by, "cases": ropes}) + "\n", encoding="utf-8")
