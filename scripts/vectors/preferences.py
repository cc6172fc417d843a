"""Vectors for the losses of preference pairs, from the formulas of the papers.

    python3 scripts/vectors/preferences.py > packages/agentlightning/vectors/preferences.json

Python 3 with torch 2 on the CPU, float64. Losses are written as values alone; slopes are what autograd makes of them.
Nothing is shared with the library. Sources stand beside each formula.
"""

import json
import random

import torch
import torch.nn.functional as F


def sigmoid(delta, beta, smoothing):
    """DPO, arXiv 2305.18290 eq. 7; label smoothing of conservative DPO (E. Mitchell, 2023)."""
    return -(1 - smoothing) * F.logsigmoid(beta * delta) - smoothing * F.logsigmoid(-beta * delta)


def ipo(delta, beta, smoothing):
    """arXiv 2310.12036 eq. 17, with tau = beta."""
    return (delta - 1 / (2 * beta)) ** 2


def hinge(delta, beta, smoothing):
    """SLiC, arXiv 2305.10425."""
    return torch.relu(1 - beta * delta)


VARIANTS = {"sigmoid": sigmoid, "ipo": ipo, "hinge": hinge}


def row(rng, length, shift):
    reference = [-rng.expovariate(1) for _ in range(length)]
    return {
        "logProbs": [min(0.0, value + rng.gauss(shift, 0.5)) for value in reference],
        "referenceLogProbs": reference,
        "mask": [0] + [rng.choice([0, 1, 1]) for _ in range(length - 1)],
    }


def evaluate(pair, options):
    logs = {side: torch.tensor(pair[side]["logProbs"], dtype=torch.float64, requires_grad=True) for side in pair}
    sums = {}
    for side, values in logs.items():
        mask = torch.tensor(pair[side]["mask"], dtype=torch.float64)
        reference = torch.tensor(pair[side]["referenceLogProbs"], dtype=torch.float64)
        sums[side] = ((values - reference) * mask).sum()
    loss = VARIANTS[options["variant"]](sums["chosen"] - sums["rejected"], options["beta"], options["labelSmoothing"])
    if options["imitation"] > 0:
        """RPO, arXiv 2404.19733 eq. 1: the negative log likelihood of the chosen answer, by its length."""
        mask = torch.tensor(pair["chosen"]["mask"], dtype=torch.float64)
        loss = loss - options["imitation"] * (logs["chosen"] * mask).sum() / mask.sum()
    loss.backward()
    return {
        "loss": loss.item(),
        "slopes": {side: values.grad.tolist() for side, values in logs.items()},
        "rewards": {side: options["beta"] * value.item() for side, value in sums.items()},
    }


def cases():
    rng = random.Random(7)
    for variant in VARIANTS:
        for beta in (0.1, 3.0):
            for smoothing in (0.0, 0.2) if variant == "sigmoid" else (0.0,):
                for imitation in (0.0, 0.7):
                    for shift in (-1.0, 1.0, 60.0):
                        pair = {"chosen": row(rng, 7, shift), "rejected": row(rng, 5, -shift)}
                        options = {"variant": variant, "beta": beta, "labelSmoothing": smoothing, "imitation": imitation}
                        yield {"options": options, "pair": pair, **evaluate(pair, options)}


print(json.dumps({"cases": list(cases())}))
