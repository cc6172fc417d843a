"""Vectors for what neither verl nor TRL has: from the papers' formulas as PyTorch expressions and its gradients, float64.

    python3 -m venv venv && venv/bin/pip install torch==2.15.0
    venv/bin/python scripts/vectors/from_torch.py > packages/agentlightning/vectors/torch.json
"""

import json
import math
import random
import sys

import torch

torch.set_default_dtype(torch.float64)
ROWS = [("p", "a", 4), ("p", "a", 2), ("p", "b", 3), ("q", "c", 5), ("q", "d", 1), ("q", "d", 2), ("q", "d", 6)]


def importance_sampling(new, old, advantages):
    """arXiv 1502.05477: the ratio, not clipped."""
    return -(new - old).exp() * advantages


def mean_of(parts):
    return torch.stack(parts).mean()


def aggregate(name, tokens):
    """Nested means over tokens, rows, rollouts and tasks; `tokens` has one tensor a row."""
    rows = [(task, rollout, losses) for (task, rollout, _), losses in zip(ROWS, tokens)]
    of = lambda at, key: torch.cat([row[2] for row in rows if row[at] == key])
    if name == "rollout-mean":
        return mean_of([of(1, rollout).mean() for rollout in "abcd"])
    if name == "sequence-mean":
        return mean_of([mean_of([row[2].mean() for row in rows if row[1] == rollout]) for rollout in "abcd"])
    if name == "prompt-mean":
        return mean_of([of(0, task).mean() for task in "pq"])
    if name == "fixed-length":
        return mean_of([of(1, rollout).sum() / 7 for rollout in "abcd"])
    return torch.cat(tokens).mean()


def losses(rng):
    found = []
    for aggregation in ("rollout-mean", "token-mean", "sequence-mean", "prompt-mean", "fixed-length"):
        draw = lambda: [[math.log(rng.uniform(0.05, 0.95)) for _ in range(n)] for _, _, n in ROWS]
        new, old = draw(), draw()
        advantages = [rng.gauss(0, 1) for _ in ROWS]
        moving = [torch.tensor(row, requires_grad=True) for row in new]
        total = aggregate(aggregation, [importance_sampling(x, torch.tensor(o), a) for x, o, a in zip(moving, old, advantages)])
        slope = [part.tolist() for part in torch.autograd.grad(total, moving)]
        rows = [
            {"groupId": t, "rolloutId": r, "logProbs": x, "behaviourLogProbs": o, "advantage": a}
            for (t, r, _), x, o, a in zip(ROWS, new, old, advantages)
        ]
        found.append({"aggregation": aggregation, "fixedLength": 7, "rows": rows, "loss": total.item(), "slope": slope})
    return found


def maxrl(rng):
    """arXiv 2602.02710, eq. 9: (R - mean) / mean; nothing is learned while nothing succeeds."""
    groups = [[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1], [rng.uniform(0, 3) for _ in range(5)]]
    values = [torch.tensor(group, dtype=torch.float64) for group in groups]
    return {"groups": groups, "advantages": [((v - v.mean()) / v.mean()).nan_to_num().tolist() for v in values]}


def overlong(_):
    """DAPO's soft punishment (arXiv 2503.14476, eq. 13), by length, for a limit of 100 and a buffer of 20 tokens."""
    length = torch.arange(0, 131, 5, dtype=torch.float64)
    return {"limit": 100, "buffer": 20, "lengths": length.tolist(), "punishments": torch.clamp((80 - length) / 20, -1, 0).tolist()}


rng = random.Random(20261203)
json.dump({f.__name__: f(rng) for f in (losses, maxrl, overlong)}, sys.stdout)
sys.stdout.write("\n")
