"""Writes packages/engine/vectors/adamw.json: AdamW worked out in float64 from the paper's own lines.

Algorithm 2 of Loshchilov & Hutter, "Decoupled Weight Decay Regularization" (arXiv 1711.05101), with lambda scaled by the
learning rate as PyTorch does, no decay on 1-D tensors, and gradients scaled down to a global L2 norm (Pascanu et al. 2013,
arXiv 1211.5063, algorithm 1). Standard library only:

    python3 scripts/vectors/adamw.py
"""

import json
import math
import pathlib
import random

TENSORS = {"matrix": [2, 3], "norm": [3]}
STEPS = 5
CASES = {
    "plain": {"learningRate": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "decay": {"learningRate": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6, "weightDecay": 0.3},
    "clipped": {"learningRate": 0.02, "beta1": 0.9, "beta2": 0.98, "eps": 1e-8, "weightDecay": 0.1, "maxGradNorm": 0.5},
}


def exact_in_float32(x):
    """A multiple of 2^-10, so that storing it in float32 loses nothing."""
    return round(x * 1024) / 1024


def draw(rng, shape):
    return [exact_in_float32(rng.gauss(0, 0.7)) for _ in range(math.prod(shape))]


def run(options, theta, gradients):
    alpha, beta1, beta2, eps = (options[key] for key in ("learningRate", "beta1", "beta2", "eps"))
    first = {name: [0.0] * len(values) for name, values in theta.items()}
    second = {name: [0.0] * len(values) for name, values in theta.items()}
    expected = []
    for t, gradient in enumerate(gradients, start=1):
        norm = math.sqrt(sum(g * g for values in gradient.values() for g in values))
        limit = options.get("maxGradNorm", math.inf)
        factor = limit / norm if norm > limit else 1.0
        for name, values in theta.items():
            decay = options.get("weightDecay", 0.0) if len(TENSORS[name]) > 1 else 0.0
            for i, x in enumerate(values):
                g = gradient[name][i] * factor
                first[name][i] = beta1 * first[name][i] + (1 - beta1) * g
                second[name][i] = beta2 * second[name][i] + (1 - beta2) * g**2
                m_hat = first[name][i] / (1 - beta1**t)
                v_hat = second[name][i] / (1 - beta2**t)
                values[i] = x - alpha * (m_hat / (math.sqrt(v_hat) + eps) + decay * x)
        expected.append({"gradNorm": norm, "parameters": {name: list(values) for name, values in theta.items()}})
    return expected


def main():
    rng = random.Random(17110510)
    cases = []
    for name, options in CASES.items():
        initial = {tensor: draw(rng, shape) for tensor, shape in TENSORS.items()}
        gradients = [{tensor: draw(rng, shape) for tensor, shape in TENSORS.items()} for _ in range(STEPS)]
        expected = run(options, {tensor: list(values) for tensor, values in initial.items()}, gradients)
        cases.append({"name": name, "options": options, "initial": initial, "gradients": gradients, "expected": expected})
    target = pathlib.Path(__file__).parents[2] / "packages/engine/vectors/adamw.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({"shapes": TENSORS, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
