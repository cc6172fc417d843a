"""Vectors from verl's own functions (trainer/ppo/core_algos.py, rollout_corr_helper.py) with PyTorch's gradients, float64.

    python3 -m venv venv && venv/bin/pip install torch==2.15.0 verl==0.9.1
    venv/bin/python scripts/vectors/from_verl.py > packages/agentlightning/vectors/verl.json

Losses are whole: policy loss, mask and aggregation of a batch, and the gradient of that with respect to each log prob. What verl
does not have stands in scripts/vectors/torch_formulas.py. Two rows of a task are two rollouts; verl knows no chains.
"""

import json
import math
import random
import sys

import numpy
import torch
from omegaconf import OmegaConf
from verl.trainer.ppo import core_algos, rollout_corr_helper
from verl.workers.config import ActorConfig

torch.set_default_dtype(torch.float64)
AGGREGATIONS = {"rollout-mean": "seq-mean-token-mean", "token-mean": "token-mean", "fixed-length": "seq-mean-token-sum-norm"}
FIXED_LENGTH = 5
LENGTHS = [6, 1, 4, 3]


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


def batch(rng, spread):
    """Four rows of six places; a place that is masked lies anywhere, as tokens of a tool do."""
    old = [[math.log(rng.uniform(0.02, 0.98)) for _ in range(6)] for _ in LENGTHS]
    masks = [rng.sample([1] * length + [0] * (6 - length), 6) for length in LENGTHS]
    return {
        "logProbs": [[o + rng.gauss(0, spread) for o in row] for row in old],
        "behaviourLogProbs": old,
        "advantages": [[a] * 6 for a in (1.25, -0.5, -1.5, 0.75)],
        "mask": masks,
    }


def policy_loss(name, rows, aggregation, low, high, dual):
    config = ActorConfig(
        strategy="fsdp", rollout_n=1, use_dynamic_bsz=True, clip_ratio=low, clip_ratio_low=low, clip_ratio_high=high,
        # Off is a bound that nothing reaches.
        clip_ratio_c=dual if dual > 0 else 1e30,
    )
    config.global_batch_info.update({"loss_scale_factor": FIXED_LENGTH})
    losses = {
        "clipped": core_algos.compute_policy_loss_vanilla,
        "gspo": core_algos.compute_policy_loss_gspo,
        "cispo": core_algos.compute_policy_loss_cispo,
        "reinforce": core_algos.compute_policy_loss_reinforce,
    }
    new = tensor(rows["logProbs"]).requires_grad_()
    old, advantages, mask = (tensor(rows[key]) for key in ("behaviourLogProbs", "advantages", "mask"))
    loss, _ = losses[name](old, new, advantages, mask, AGGREGATIONS[aggregation], config)
    (slope,) = torch.autograd.grad(loss, new)
    return {"loss": loss.item(), "slope": slope.tolist()}


def losses(rng):
    bounds = [(0.2, 0.28, 0), (0.2, 0.2, 3), (3e-4, 4e-4, 0)]
    return [
        {"name": name, "aggregation": aggregation, "fixedLength": FIXED_LENGTH, "bounds": {"low": low, "high": high, "dual": dual},
         "rows": rows, **policy_loss(name, rows, aggregation, low, high, dual)}
        for name in ("clipped", "gspo", "cispo", "reinforce")
        for aggregation in AGGREGATIONS
        for low, high, dual in bounds
        if dual == 0 or name == "clipped"  # the dual clip is of the plain objective alone in verl
        for rows in (batch(rng, 0.03), batch(rng, 0.9))
    ]


def advantages(rng):
    """One token a response, so that a mean over tokens is one over responses. verl whitens with sqrt(var + 1e-8), which for rewards of
    this size is the same to nine digits. A group of one is left out: verl lets its reward be its advantage."""
    batches = {
        "successes": [[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0, 0]],
        "large": [[rng.uniform(-100, 900) for _ in range(size)] for size in (4, 2, 6)],
    }
    mask = lambda rewards: torch.ones(len(rewards), 1)
    found = []
    for label, groups in batches.items():
        rewards = tensor([[r] for group in groups for r in group])
        index = numpy.array([at for at, group in enumerate(groups) for _ in group], dtype=object)
        results = {
            "grpo": core_algos.compute_grpo_outcome_advantage(rewards, mask(rewards), index),
            "dr-grpo": core_algos.compute_grpo_outcome_advantage(rewards, mask(rewards), index, norm_adv_by_std_in_grpo=False),
            "rloo": core_algos.compute_rloo_outcome_advantage(rewards, mask(rewards), index),
        }
        if label == "large":
            gamma = OmegaConf.create({"gamma": 1.0})
            results["reinforce++"] = core_algos.compute_reinforce_plus_plus_outcome_advantage(rewards, mask(rewards), config=gamma)
            baseline = core_algos.compute_reinforce_plus_plus_baseline_outcome_advantage
            results["reinforce++-baseline"] = baseline(rewards, mask(rewards), index)
        for name, (values, _) in results.items():
            flat = iter(values[:, 0].tolist())
            found.append({"name": name, "batch": label, "groups": groups, "advantages": [[next(flat) for _ in group] for group in groups]})
    return found


def gae(rng):
    """The returns are the advantages, which verl whitens afterwards, and the values."""
    found = []
    for discount, lam in ((1.0, 1.0), (0.99, 0.95), (0.9, 0.0)):
        rewards, values = ([[rng.gauss(0, 1) for _ in range(7)]] for _ in range(2))
        _, returns = core_algos.compute_gae_advantage_return(tensor(rewards), tensor(values), torch.ones(1, 7), discount, lam)
        found.append({"discount": discount, "lambda": lam, "rewards": rewards[0], "values": values[0], "returns": returns[0].tolist()})
    return found


def kl(rng):
    """verl cuts K3 at 10; nothing here comes near it."""
    found = []
    for estimator in ("k1", "k2", "k3"):
        policy = [math.log(rng.uniform(0.02, 0.98)) for _ in range(8)]
        reference = [one + rng.uniform(-2, 2) for one in policy]
        new = tensor(policy).requires_grad_()
        value = core_algos.kl_penalty(new, tensor(reference), estimator)
        (slope,) = torch.autograd.grad(value.sum(), new)
        found.append({"estimator": estimator, "logProbs": policy, "referenceLogProbs": reference, "loss": value.tolist(), "slope": slope.tolist()})
    return found


def value(rng):
    rows = {key: [rng.gauss(0, 0.5) for _ in range(12)] for key in ("values", "oldValues", "returns")}
    mask = [rng.choice([0, 1, 1]) for _ in range(12)]
    predicted = tensor([rows["values"]]).requires_grad_()
    loss, _ = core_algos.compute_value_loss(predicted, tensor([rows["returns"]]), tensor([rows["oldValues"]]), tensor([mask]), 0.2)
    (slope,) = torch.autograd.grad(loss, predicted)
    return {"clip": 0.2, "mask": mask, **rows, "loss": loss.item(), "slope": slope[0].tolist()}


def corrections(rng):
    """The bounds of verl's masks are of sampler / trainer: 0.5 there is 2 here."""
    found = []
    for spread in (0.02, 0.3, 1.0):
        rows = batch(rng, spread)
        mask = tensor(rows["mask"])
        ratio = tensor(rows["logProbs"]) - tensor(rows["behaviourLogProbs"])
        weigh = rollout_corr_helper.compute_rollout_correction_weights
        keep = rollout_corr_helper.compute_rollout_rejection_mask
        sequence, _ = weigh(ratio, mask, "sequence", 1e8)
        factors = {
            "token-tis": weigh(ratio, mask, "token", 2.0)[0],
            "sequence-tis": weigh(ratio, mask, "sequence", 2.0)[0],
            "token-mask": weigh(ratio, mask, "token", "0.5_2.0")[0],
            "sequence-mask": sequence * keep(ratio, mask, "seq_sum_k1", "0.5_1000000000")[0],
            "geometric-mask": keep(ratio, mask, "seq_mean_k1", "0.5_2.0")[0],
        }
        given = {"logProbs": rows["logProbs"], "sampledLogProbs": rows["behaviourLogProbs"], "mask": rows["mask"]}
        found += [{"name": name, "cap": 2.0, "floor": 0.5, **given, "factors": factor.tolist()} for name, factor in factors.items()]
    return found


def entropy(rng):
    """Gradient of verl's entropy with respect to the logits of two places, and the policy there."""
    logits = tensor([[[rng.gauss(0, 1) for _ in range(5)] for _ in range(2)]]).requires_grad_()
    (slope,) = torch.autograd.grad(core_algos.compute_entropy_loss(logits, torch.ones(1, 2), "token-sum"), logits)
    return {"logits": logits[0].tolist(), "slope": slope[0].tolist()}


rng = random.Random(20261201)
made = {f.__name__: f(rng) for f in (losses, advantages, gae, kl, value, corrections, entropy)}
json.dump(made, sys.stdout)
sys.stdout.write("\n")
