"""A GGUF file with a tensor of every number format, and what the package gguf reads from it, for packages/engine/src/files/gguf.

    python -m venv venv && venv/bin/pip install gguf==0.19.0 numpy
    venv/bin/python scripts/vectors/gguf_file.py
"""

import json
from pathlib import Path

import gguf
import numpy as np

folder = Path(__file__).parents[2] / "packages/engine/vectors/gguf"
folder.mkdir(exist_ok=True)
random = np.random.default_rng(7)
writer = gguf.GGUFWriter(folder / "formats.gguf", "llama")
writer.add_array("numbers", [1, -2, 3])
writer.add_array("texts", ["a", "ü", ""])
writer.add_float64("pi", 3.141592653589793)
writer.add_bool("yes", True)
writer.add_uint64("large", 2**40)
writer.add_int8("small", -7)

for name in ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]:
    kind = gguf.GGMLQuantizationType[name]
    size, width = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (3 if size == 256 else 6, width), dtype=np.uint8)
    # any bytes are a block, but its scales shall be finite; the first block's are subnormal
    for place in {"Q6_K": [208], "Q4_0": [0], "Q5_0": [0], "Q8_0": [0]}.get(name, [0, 2]):
        scales = random.normal(size=len(blocks)).astype(np.float16)
        scales[0] = 3e-7
        blocks[:, place : place + 2] = scales.view(np.uint8).reshape(-1, 2)
    writer.add_tensor(name, blocks, raw_dtype=kind)
writer.add_tensor("F32", random.normal(size=(2, 3)).astype(np.float32))
writer.add_tensor("F16", random.normal(size=(5,)).astype(np.float16))
bfloat = (random.normal(size=(2, 4)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
writer.add_tensor("BF16", bfloat.view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()

expected = {}
for tensor in gguf.GGUFReader(folder / "formats.gguf").tensors:
    numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    bits = numbers.reshape(-1).view(np.uint32).tolist()
    expected[tensor.name] = {"shape": [int(n) for n in reversed(tensor.shape)], "bits": bits}
(folder / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")
print({name: entry["shape"] for name, entry in expected.items()})

numbers = (random.normal(size=(4, 32)) * np.array([[1], [0], [1e-6], [300]])).astype(np.float32)
quantised = gguf.quants.quantize(numbers, gguf.GGMLQuantizationType.Q8_0).reshape(-1).tolist()
text = json.dumps({"numbers": [float(x) for x in numbers.reshape(-1)], "q8Zero": quantised})
(folder / "quantised.json").write_text(text + "\n", encoding="utf-8")


# The tiny models of llama.py and families.py as GGUF files, with names and row order as convert_hf_to_gguf.py of llama.cpp has them.
def models():
    import torch
    from safetensors.torch import load_file

    vectors = folder.parent
    names = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "input_layernorm": "attn_norm",
    }
    norms = {
        "llama": {"post_attention_layernorm": "ffn_norm"},
        "gemma3": {
            "post_attention_layernorm": "post_attention_norm",
            "pre_feedforward_layernorm": "ffn_norm",
            "post_feedforward_layernorm": "post_ffw_norm",
        },
    }
    tokenizer = json.loads((vectors / "tokenizer/tokenizer.json").read_text(encoding="utf-8"))
    ids = {**tokenizer["model"]["vocab"], **{token["content"]: token["id"] for token in tokenizer["added_tokens"]}}
    special = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    user_defined = {token["id"] for token in tokenizer["added_tokens"] if not token["special"]}
    for source, architecture in [("llama-bfloat16", "llama"), ("families/gemma3_text", "gemma3")]:
        config = json.loads((vectors / source / "config.json").read_text())
        writer = gguf.GGUFWriter(folder / f"{architecture}.gguf", architecture)
        writer.add_context_length(config["max_position_embeddings"])
        writer.add_embedding_length(config["hidden_size"])
        writer.add_block_count(config["num_hidden_layers"])
        writer.add_feed_forward_length(config["intermediate_size"])
        writer.add_head_count(config["num_attention_heads"])
        writer.add_head_count_kv(config["num_key_value_heads"])
        writer.add_key_length(config["head_dim"])
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
        if architecture == "gemma3":
            writer.add_rope_freq_base(1000000.0)
            writer.add_sliding_window(config["sliding_window"])
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(8.0)
        else:
            writer.add_rope_freq_base(500000.0)
        texts = sorted(ids, key=ids.get)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("smollm")
        writer.add_token_list(texts)
        kinds = [gguf.TokenType.CONTROL if i in special else gguf.TokenType.USER_DEFINED if i in user_defined else gguf.TokenType.NORMAL for i in range(len(texts))]
        writer.add_token_types(kinds)
        writer.add_token_merges([" ".join(pair) if isinstance(pair, list) else pair for pair in tokenizer["model"]["merges"]])
        writer.add_eos_token_id(config["eos_token_id"])
        writer.add_chat_template((vectors / "tokenizer/chat_template.jinja").read_text(encoding="utf-8"))
        for name, tensor in load_file(vectors / source / "model.safetensors").items():
            numbers = tensor.float().numpy()
            if architecture == "gemma3" and "norm" in name:
                numbers = numbers + 1
            if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
                heads = config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
                rows, columns = numbers.shape
                numbers = numbers.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
            if name.startswith("model.layers."):
                _, _, layer, rest = name.split(".", 3)
                module, kind = rest.rsplit(".", 1)
                target = f"blk.{layer}.{names.get(module) or norms[architecture][module]}.{kind}"
            else:
                target = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}[name.rsplit(".", 1)[0]] + ".weight"
            if numbers.ndim == 1:
                writer.add_tensor(target, np.ascontiguousarray(numbers, np.float32))
            else:
                bits = torch.from_numpy(np.ascontiguousarray(numbers)).to(torch.bfloat16).view(torch.uint8).numpy()
                writer.add_tensor(target, bits, raw_dtype=gguf.GGMLQuantizationType.BF16)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


models()
