"""Vectors from the loss of TRL's GRPOTrainer itself, called with log probs in place of a model; PyTorch's gradients, float64.

    python3 -m venv venv && venv/bin/pip install torch==2.15.0 trl==1.16.0
    venv/bin/python scripts/vectors/from_trl.py > packages/agentlightning/vectors/trl.json

TRL names losses by what they normalise with. Its CISPO bounds the weight from above alone, and by the ratio itself.
"""

import json
import math
import random
import sys
from collections import defaultdict
from types import SimpleNamespace

import torch
from trl import GRPOTrainer

torch.set_default_dtype(torch.float64)
LENGTHS = [6, 1, 4, 3]
FIXED_LENGTH = 9
KL = 0.1


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


def batch(rng, spread):
    old = [[math.log(rng.uniform(0.02, 0.98)) for _ in range(6)] for _ in LENGTHS]
    masks = [rng.sample([1] * length + [0] * (6 - length), 6) for length in LENGTHS]
    return {
        "logProbs": [[o + rng.gauss(0, spread) for o in row] for row in old],
        "behaviourLogProbs": old,
        "referenceLogProbs": [[o + rng.gauss(0, 0.3) for o in row] for row in old],
        "advantages": [1.25, -0.5, -1.5, 0.75],
        "factors": [[rng.uniform(0, 2) for _ in row] for row in old],
        "mask": masks,
    }


class Accelerator:
    num_processes = 1
    gather = gather_for_metrics = staticmethod(lambda x: x)
    reduce = staticmethod(lambda x, reduction: x)


def loss(rows, loss_type, level, low, high, dual, beta, corrected):
    new = tensor(rows["logProbs"]).requires_grad_()
    ids = torch.zeros(4, 6, dtype=torch.long)
    trainer = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (new, torch.zeros(4, 6), None),
        args=SimpleNamespace(delta=dual if dual > 0 else None, use_bias_correction_kl=False, steps_per_generation=1),
        model=SimpleNamespace(training=True), accelerator=Accelerator(), _metrics=defaultdict(lambda: defaultdict(list)),
        top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level=level, beta=beta, loss_type=loss_type,
        epsilon_low=low, epsilon_high=high, use_vllm=corrected, vllm_importance_sampling_correction=corrected,
        current_gradient_accumulation_steps=1, max_completion_length=FIXED_LENGTH, _entropy_bonus_enabled=False, aux_loss_enabled=False,
    )
    mask = tensor(rows["mask"])
    inputs = {
        "prompt_ids": ids[:, :1], "prompt_mask": ids[:, :1], "completion_ids": ids, "completion_mask": mask,
        "advantages": tensor(rows["advantages"]), "old_per_token_logps": tensor(rows["behaviourLogProbs"]),
        "ref_per_token_logps": tensor(rows["referenceLogProbs"]), "importance_sampling_ratio": tensor(rows["factors"]),
        "num_items_in_batch": mask.sum(),
    }
    value = GRPOTrainer._compute_loss(trainer, None, inputs)
    (slope,) = torch.autograd.grad(value, new)
    return {"loss": value.item(), "slope": slope.tolist()}


CASES = [
    # label, ours, aggregation, TRL's loss type, level, low, high, dual, KL, correction
    ("GRPO", "clipped", "rollout-mean", "grpo", "token", 0.2, 0.2, 0, 0, False),
    ("GRPO with K3", "clipped", "rollout-mean", "grpo", "token", 0.2, 0.2, 0, KL, False),
    ("Dr.GRPO", "clipped", "fixed-length", "dr_grpo", "token", 0.2, 0.2, 0, 0, False),
    ("DAPO", "clipped", "token-mean", "dapo", "token", 0.2, 0.28, 0, 0, False),
    ("DAPO with a correction and K3", "clipped", "token-mean", "dapo", "token", 0.2, 0.28, 0, KL, True),
    ("token mean, two-sided", "clipped", "token-mean", "bnpo", "token", 0.2, 0.28, 3, 0, False),
    ("GSPO", "gspo", "rollout-mean", "grpo", "sequence", 3e-4, 4e-4, 0, 0, False),
    ("GSPO, wide", "gspo", "rollout-mean", "grpo", "sequence", 0.2, 0.28, 0, 0, False),
    ("CISPO", "cispo", "token-mean", "cispo", "token", 1, 0.5, 0, 0, False),
]


def main():
    rng = random.Random(20261202)
    made = []
    for label, name, aggregation, loss_type, level, low, high, dual, beta, corrected in CASES:
        for spread in (0.03, 0.9):
            rows = batch(rng, spread)
            ratio = 1 + high if loss_type == "cispo" else high
            case = {"label": label, "name": name, "aggregation": aggregation, "fixedLength": FIXED_LENGTH, "kl": beta, "corrected": corrected}
            bounds = {"low": low, "high": high, "dual": dual}
            made.append({**case, "bounds": bounds, "rows": rows, **loss(rows, loss_type, level, low, ratio, dual, beta, corrected)})
    json.dump(made, sys.stdout)
    sys.stdout.write("\n")


main()
