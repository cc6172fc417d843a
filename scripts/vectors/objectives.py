"""Vectors for advantages, losses, corrections, KL estimates, aggregations and GAE, from the formulas of the papers.

    python3 scripts/vectors/objectives.py > packages/agentlightning/vectors/objectives.json

Python 3 with jax 0.10 on the CPU, float64. Losses are written as values alone; slopes are what jax.grad makes of them.
Nothing is shared with the library. Sources stand beside each formula.
"""

import json
import math
import random
import sys

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
stop = jax.lax.stop_gradient
BOUNDS = {"low": 0.2, "high": 0.28, "dual": 0}
EPSILON = 1e-6


def surrogate(ratio, a, low, high, dual):
    """arXiv 1707.06347 eq. 7; bounds of arXiv 2503.14476; dual clip of arXiv 1912.09729 eq. 5 (an objective)."""
    least = jnp.minimum(ratio * a, jnp.clip(ratio, 1 - low, 1 + high) * a)
    return jnp.where(a < 0, jnp.maximum(least, dual * a), least) if dual > 0 else least


def clipped(new, old, a, w, low, high, dual):
    return -w * surrogate(jnp.exp(new - old), a, low, high, dual)


def gspo(new, old, a, w, low, high, dual):
    """arXiv 2507.18071 eq. 7; for advantages that differ GSPO-token, eq. 13 and 14."""
    used = (w != 0).astype(jnp.float64)
    s = jnp.exp(jnp.sum(used * (new - old)) / jnp.sum(used))
    same = jnp.all(a == a[0])
    token = stop(s) * jnp.exp(new - stop(new))
    return -w * surrogate(jnp.where(same, s, token), a, low, high, dual)


def cispo(new, old, a, w, low, high, dual):
    """arXiv 2506.13585 eq. 4."""
    return -w * stop(jnp.clip(jnp.exp(new - old), 1 - low, 1 + high)) * a * new


def reinforce(new, old, a, w, low, high, dual):
    return -w * a * new


def importance(new, old, a, w, low, high, dual):
    return -w * jnp.exp(new - old) * a


LOSSES = {"clipped": clipped, "gspo": gspo, "cispo": cispo, "reinforce": reinforce, "importance-sampling": importance}


def draw(rng, length, spread, same_advantage=False):
    old = [math.log(rng.uniform(0.02, 0.98)) for _ in range(length)]
    one = rng.gauss(0, 1)
    return {
        "logProbs": [min(0.0, o + rng.gauss(0, spread)) for o in old],
        "behaviourLogProbs": old,
        "advantages": [one if same_advantage else rng.gauss(0, 1) for _ in range(length)],
        "weights": [rng.choice([0.0, 0.125]) if same_advantage else rng.choice([0.0, 0.1, 0.7]) for _ in range(length)],
    }


def arrays(row):
    return [jnp.array(row[key]) for key in ("logProbs", "behaviourLogProbs", "advantages", "weights")]


def loss_cases(rng):
    cases = []
    for name, loss in LOSSES.items():
        for bounds in (BOUNDS, {"low": 0.2, "high": 0.2, "dual": 3}, {"low": 3e-4, "high": 4e-4, "dual": 0}):
            for spread, same in ((0.02, False), (0.9, False), (0.05, True), (0.9, True)):
                row = draw(rng, 9, spread, same)
                if sum(row["weights"]) == 0:
                    row["weights"][3] = 0.125
                new, old, a, w = arrays(row)
                values = loss(new, old, a, w, **bounds)
                slope = jax.grad(lambda x: jnp.sum(loss(x, old, a, w, **bounds)))(new)
                cases.append({"name": name, "bounds": bounds, "row": row, "loss": values.tolist(), "slope": slope.tolist()})
    return cases


def corrections(rng):
    """TIS: Yao et al. 2025. Masks: Liu & Li 2025 (sequence), IcePop (token), geometric mean of a sequence."""
    cases = []
    cap, floor = 2.0, 0.5
    for spread in (0.02, 0.3, 1.0):
        row = draw(rng, 7, spread)
        new, old, _, w = arrays(row)
        used = w != 0
        ratio = jnp.exp(new - old)
        product = jnp.prod(jnp.where(used, ratio, 1.0))
        mean = product ** (1 / max(1, int(jnp.sum(used))))
        ones = jnp.ones_like(ratio)
        factors = {
            "none": ones,
            "token-tis": jnp.minimum(ratio, cap),
            "sequence-tis": ones * jnp.minimum(product, cap),
            "token-mask": jnp.where((ratio >= floor) & (ratio <= cap), ratio, 0.0),
            "sequence-mask": ones * (product if product <= cap else 0.0),
            "geometric-mask": ones * (1.0 if floor <= mean <= cap else 0.0),
        }
        for name, factor in factors.items():
            case = {"name": name, "cap": cap, "floor": floor, "factors": jnp.where(used, factor, 0.0).tolist()}
            cases.append({**case, "logProbs": row["logProbs"], "sampledLogProbs": row["behaviourLogProbs"], "weights": row["weights"]})
    return cases


def kl_cases(rng):
    """Schulman, "Approximating KL Divergence" (2020), r = reference / policy."""
    estimators = {
        "k1": lambda new, ref: -jnp.log(jnp.exp(ref - new)),
        "k2": lambda new, ref: jnp.log(jnp.exp(ref - new)) ** 2 / 2,
        "k3": lambda new, ref: (jnp.exp(ref - new) - 1) - jnp.log(jnp.exp(ref - new)),
    }
    cases = []
    for name, estimator in estimators.items():
        row = draw(rng, 8, 0.7)
        new, ref, _, w = arrays(row)
        per_token = estimator(new, ref)
        kept = [per_token[t].item() if w[t] != 0 else 0.0 for t in range(8)]
        cases.append(
            {
                "estimator": name,
                "logProbs": row["logProbs"],
                "referenceLogProbs": row["behaviourLogProbs"],
                "weights": row["weights"],
                "loss": (w * per_token).tolist(),
                "slope": jax.grad(lambda x: jnp.sum(w * estimator(x, ref)))(new).tolist(),
                "returns": [0.3 * sum(kept[t:]) if w[t] != 0 else 0.0 for t in range(8)],
            }
        )
    return cases


def value_cases(rng):
    cases = []
    for clip in (0.0, 0.2):
        numbers = lambda: [rng.gauss(0, 0.5) for _ in range(10)]
        row = {"values": numbers(), "oldValues": numbers(), "returns": numbers(), "weights": [rng.choice([0.0, 0.5]) for _ in range(10)]}
        v, old, r, w = (jnp.array(row[key]) for key in ("values", "oldValues", "returns", "weights"))

        def loss(x):
            near = jnp.clip(x, old - clip, old + clip) if clip > 0 else x
            return 0.5 * w * jnp.maximum((x - r) ** 2, (near - r) ** 2)

        cases.append({"clip": clip, "row": row, "loss": loss(v).tolist(), "slope": jax.grad(lambda x: jnp.sum(loss(x)))(v).tolist()})
    return cases


def advantage_cases(rng):
    mean = lambda values: math.fsum(values) / len(values)

    def std(values):
        m = mean(values)
        return math.sqrt(math.fsum((v - m) ** 2 for v in values) / (len(values) - 1))

    def estimate(name, groups):
        flat = [r for group in groups for r in group]
        centred = [r - mean(group) for group in groups for r in group]
        result = []
        for group in groups:
            m = mean(group)
            equal = len(set(group)) == 1
            row = []
            for i, r in enumerate(group):
                others = group[:i] + group[i + 1 :]
                if name == "reinforce++":  # arXiv 2501.03262, over the batch
                    row.append((r - mean(flat)) / (std(flat) + EPSILON))
                elif equal:
                    row.append(0.0)
                elif name == "grpo":  # arXiv 2402.03300
                    row.append((r - m) / (std(group) + EPSILON))
                elif name == "dr-grpo":  # arXiv 2503.20783
                    row.append(r - m)
                elif name == "rloo":  # arXiv 2402.14740
                    row.append(r - mean(others))
                elif name == "reinforce++-baseline":
                    row.append((r - m) / (std(centred) + EPSILON))
                elif name == "maxrl":  # arXiv 2602.02710; nothing is learned while nothing succeeds
                    row.append((r - m) / m if m > 0 else 0.0)
            result.append(row)
        return result

    batches = {
        "successes": [[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0, 0]],
        "graded": [[rng.uniform(0, 3) for _ in range(4)] for _ in range(3)],
        "with a group of one": [[0.5], [0.25, 1, 0]],
    }
    names = ["grpo", "dr-grpo", "rloo", "reinforce++", "reinforce++-baseline", "maxrl"]
    return [{"name": n, "batch": b, "groups": g, "advantages": estimate(n, g)} for n in names for b, g in batches.items()]


def aggregation_cases(rng):
    """Rows as (group, rollout, per-token losses); the mean that each name stands for, written as nested means."""
    rows = [("p", "a", 4), ("p", "a", 2), ("p", "b", 3), ("q", "c", 5), ("q", "d", 1), ("q", "d", 2), ("q", "d", 6)]
    rows = [{"groupId": g, "rolloutId": r, "losses": [rng.gauss(0, 1) for _ in range(n)]} for g, r, n in rows]
    mean = lambda values: sum(values) / len(values)
    tokens = lambda key, name: [x for row in rows if row[key] == name for x in row["losses"]]
    rollouts, groups, length = "abcd", "pq", 7
    expected = {
        "rollout-mean": mean([mean(tokens("rolloutId", r)) for r in rollouts]),
        "token-mean": mean([x for row in rows for x in row["losses"]]),
        "sequence-mean": mean([mean([mean(row["losses"]) for row in rows if row["rolloutId"] == r]) for r in rollouts]),
        "prompt-mean": mean([mean(tokens("groupId", g)) for g in groups]),
        "fixed-length": mean([sum(tokens("rolloutId", r)) / length for r in rollouts]),
    }
    return {"rows": rows, "fixedLength": length, "expected": expected}


def gae_cases(rng):
    """arXiv 1506.02438 eq. 16, as a double sum."""
    cases = []
    for discount, lam in ((1.0, 1.0), (0.99, 0.95), (0.9, 0.0)):
        rewards = [rng.gauss(0, 1) for _ in range(6)]
        values = [rng.gauss(0, 1) for _ in range(6)]
        after = values[1:] + [0.0]
        delta = [rewards[t] + discount * after[t] - values[t] for t in range(6)]
        a = [sum((discount * lam) ** k * delta[t + k] for k in range(6 - t)) for t in range(6)]
        cases.append({"discount": discount, "lambda": lam, "rewards": rewards, "values": values, "advantages": a})
    return cases


rng = random.Random(20261130)
json.dump(
    {
        "losses": loss_cases(rng),
        "corrections": corrections(rng),
        "kl": kl_cases(rng),
        "value": value_cases(rng),
        "advantages": advantage_cases(rng),
        "aggregation": aggregation_cases(rng),
        "gae": gae_cases(rng),
    },
    sys.stdout,
)
sys.stdout.write("\n")
