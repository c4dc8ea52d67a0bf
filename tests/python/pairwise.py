# SPDX-License-Identifier: Apache-2.0
"""All-pairs choice of cases: every pair of values of two axes that can occur together is in some case."""

import itertools
import random


def all_pairs(axes, valid, limit, seed=1):
    """Cases as dicts. `axes` maps a name to its values, `valid(case)` says whether a whole case makes sense.

    Greedy: each step takes, out of some random valid completions of a pair that is not covered yet, the one that covers
    most. Deterministic by the seed.
    """
    rng = random.Random(seed)
    names = list(axes)

    def pairs_of(case):
        return {(a, case[a], b, case[b]) for a, b in itertools.combinations(names, 2)}

    def complete(fixed, attempts=200):
        for _ in range(attempts):
            case = {name: fixed.get(name, rng.choice(axes[name])) for name in names}
            if valid(case):
                return case
        return None

    open_pairs = [(a, va, b, vb) for a, b in itertools.combinations(names, 2) for va in axes[a] for vb in axes[b]]
    covered = set()
    cases = []
    for pair in open_pairs:
        if pair in covered or len(cases) >= limit:
            continue
        a, va, b, vb = pair
        candidates = [c for c in (complete({a: va, b: vb}) for _ in range(12)) if c]
        if not candidates:
            continue  # the two never go together
        best = max(candidates, key=lambda c: len(pairs_of(c) - covered))
        covered |= pairs_of(best)
        cases.append(best)
    return cases


def product(axes, valid):
    for values in itertools.product(*axes.values()):
        case = dict(zip(axes, values))
        if valid(case):
            yield case
