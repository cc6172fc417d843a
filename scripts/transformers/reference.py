"""What transformers and peft compute in float32, on the CPU, for one model folder or GGUF file: written as safetensors and JSON
for check.mjs beside this file.

    python reference.py MODEL OUT full|lora
"""

import json
import sys
from pathlib import Path

import peft
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

source, out, mode = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
out.mkdir(parents=True, exist_ok=True)
torch.manual_seed(5)
torch.set_num_threads(2)
place = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name} if source.suffix == ".gguf" else {"pretrained_model_name_or_path": source}
model = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32, attn_implementation="eager")
vocabulary = model.config.vocab_size
rows = [torch.randint(3, vocabulary, (length,)) for length in ((48, 33, 64) if vocabulary > 1000 else (30, 21, 32))]


def log_probs(row):
    logits = model(row[None]).logits[0]
    return torch.log_softmax(logits, dim=-1)[:-1].gather(1, row[1:, None])[:, 0], logits


def loss():
    return sum(-log_probs(row)[0].sum() for row in rows)


with torch.no_grad():
    tensors = {}
    for i, row in enumerate(rows):
        values, logits = log_probs(row)
        tensors[f"logProbs.{i}"] = values
        tensors[f"logits.{i}"] = logits[-1].clone()
if mode == "lora":
    modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    model = peft.get_peft_model(model, peft.LoraConfig(r=8, lora_alpha=16, target_modules=modules))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(torch.randn_like(parameter) * 0.02)
trained = {
    name.removeprefix("base_model.model.").replace(".default", ""): parameter
    for name, parameter in model.named_parameters()
    if parameter.requires_grad
}
tensors |= {f"initial.{name}": parameter.detach().clone() for name, parameter in trained.items()} if mode == "lora" else {}
loss().backward()
tensors |= {f"gradient.{name}": parameter.grad.clone() for name, parameter in trained.items()}
decayed = [parameter for parameter in trained.values() if parameter.dim() > 1]
plain = [parameter for parameter in trained.values() if parameter.dim() == 1]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
rate = 1e-3 if mode == "lora" else 1e-4
optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.99), eps=1e-8)
losses, norms = [], []
for _ in range(10):
    optimizer.zero_grad()
    value = loss()
    value.backward()
    norms.append(torch.nn.utils.clip_grad_norm_(trained.values(), 1.0).item())
    optimizer.step()
    losses.append(value.item())
save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, out / "tensors.safetensors")
expected = {"rows": [row.tolist() for row in rows], "losses": losses, "norms": norms, "learningRate": rate}
(out / "expected.json").write_text(json.dumps(expected))
