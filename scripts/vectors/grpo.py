"""Vectors for GRPO, from the formulas of the papers; Python 3 and its standard library alone, float64.

    python3 scripts/vectors/grpo.py > packages/agentlightning/vectors/grpo.json

GRPO      arXiv 2402.03300: advantages (R - mean) / std in section 4.1.2; objective eq. 3 with beta = 0
DAPO      arXiv 2503.14476, section 3.1: separate bounds of the clip
Dr. GRPO  arXiv 2503.20783, eq. 3: advantages without the division by std

The standard deviation has divisor n - 1 and epsilon is added to it, as TRL and verl do. Derivatives are written from
the piecewise form of min(r A, clip(r) A) and checked here by central differences. Nothing is shared with the library.
"""

import json
import math
import random
import statistics
import sys


def advantages(rewards, scale_by_std, epsilon):
    mean = statistics.fmean(rewards)
    if len(set(rewards)) == 1:
        return [0.0] * len(rewards)
    return [(r - mean) / (statistics.stdev(rewards) + epsilon if scale_by_std else 1.0) for r in rewards]


def loss(rollouts, low, high):
    """-1/G sum_i 1/|o_i| sum_t min(r A, clip(r, 1 - low, 1 + high) A); |o_i| counts the tokens of all rows of rollout i."""
    total = 0.0
    for rollout in rollouts:
        tokens = [pair for row in rollout["rows"] for pair in zip(row["logProbs"], row["behaviourLogProbs"])]
        objective = 0.0
        for new, old in tokens:
            ratio = math.exp(new - old)
            a = rollout["advantage"]
            objective += min(ratio * a, min(max(ratio, 1 - low), 1 + high) * a)
        total += objective / len(tokens)
    return -total / len(rollouts)


def slopes(rollouts, low, high):
    result = []
    for rollout in rollouts:
        size = sum(len(row["logProbs"]) for row in rollout["rows"])
        for row in rollout["rows"]:
            slope = []
            for new, old in zip(row["logProbs"], row["behaviourLogProbs"]):
                ratio = math.exp(new - old)
                a = rollout["advantage"]
                cut = (a > 0 and ratio > 1 + high) or (a < 0 and ratio < 1 - low)
                slope.append(0.0 if cut else -ratio * a / size / len(rollouts))
            result.append(slope)
    return result


def check(rollouts, low, high):
    """The slopes agree with central differences of the loss, save within a step of a corner."""
    step = 1e-6
    expected = iter(slopes(rollouts, low, high))
    for rollout in rollouts:
        for row in rollout["rows"]:
            for t, slope in enumerate(next(expected)):
                kept = row["logProbs"][t]
                ratio = math.exp(kept - row["behaviourLogProbs"][t])
                if min(abs(ratio - 1 + low), abs(ratio - 1 - high)) < 1e-4:
                    continue
                row["logProbs"][t] = kept + step
                above = loss(rollouts, low, high)
                row["logProbs"][t] = kept - step
                below = loss(rollouts, low, high)
                row["logProbs"][t] = kept
                assert abs((above - below) / (2 * step) - slope) < 1e-7, (t, slope)


def surrogate_case(name, rng, rewards, rows_per_rollout, low, high, scale_by_std, spread):
    epsilon = 1e-6
    rollouts = []
    for advantage, rows in zip(advantages(rewards, scale_by_std, epsilon), rows_per_rollout):
        made = []
        for length in rows:
            old = [math.log(rng.uniform(0.02, 0.98)) for _ in range(length)]
            made.append({"logProbs": [min(0.0, o + rng.gauss(0, spread)) for o in old], "behaviourLogProbs": old})
        rollouts.append({"advantage": advantage, "rows": made})
    check(rollouts, low, high)
    case = {"name": name, "clipLow": low, "clipHigh": high, "rollouts": rollouts}
    return {**case, "loss": loss(rollouts, low, high), "slopes": slopes(rollouts, low, high)}


def main():
    rng = random.Random(20240203)
    groups = {
        "one of eight": [0, 0, 0, 1, 0, 0, 0, 0],
        "half": [1, 0, 1, 0],
        "graded": [rng.uniform(-2, 3) for _ in range(6)],
        "small differences": [0.95, 0.949, 0.951, 0.95],
        "large offset": [1e6 + r for r in (0.25, 0.5, 0.125, 1.0)],
        "all equal": [0.5, 0.5, 0.5],
        "two": [-1, 1],
    }
    advantage_cases = [
        {
            "name": name,
            "rewards": rewards,
            "scaleByStd": scale_by_std,
            "epsilon": epsilon,
            "advantages": advantages(rewards, scale_by_std, epsilon),
        }
        for name, rewards in groups.items()
        for scale_by_std, epsilon in ((True, 1e-6), (True, 1e-4), (False, 1e-6))
    ]
    one = [[5], [9], [1], [7]]
    chains = [[4, 3], [2], [6, 1, 8], [5]]
    surrogate_cases = [
        surrogate_case("GRPO, on policy", rng, [1, 0, 0.5, 0], one, 0.2, 0.2, True, 0.0),
        surrogate_case("GRPO, off policy", rng, [1, 0, 0.5, 0], one, 0.2, 0.2, True, 0.4),
        surrogate_case("DAPO's clip-higher", rng, [1, 0, 0, 1], one, 0.2, 0.28, True, 0.4),
        surrogate_case("Dr. GRPO's advantages", rng, [1, 0.2, 0, 0], one, 0.2, 0.2, False, 0.4),
        surrogate_case("several chains a rollout", rng, [1, 0, 0.3, 0.9], chains, 0.2, 0.28, True, 0.4),
    ]
    json.dump({"advantages": advantage_cases, "surrogate": surrogate_cases}, sys.stdout, indent=1)
    sys.stdout.write("\n")


main()
