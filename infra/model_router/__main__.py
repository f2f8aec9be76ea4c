"""`python -m infra.model_router`: train the router, print what it would do."""

import argparse
from pathlib import Path

import numpy as np

from infra.model_router import collect, train


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m infra.model_router", description=__doc__)
    parser.add_argument("--collect", nargs=2, type=Path, metavar=("SMALL", "LARGE"))
    args = parser.parse_args()
    if args.collect is not None:
        collect.keep(collect.collect(*args.collect))
    answered = collect.read()
    train.keep(train.fit(answered))
    scored = train.scores(answered)
    print("| chosen by | accuracy | to the small model | answered right | saved |")
    print("|---|--:|--:|--:|--:|")
    count = len(answered)
    rng = np.random.default_rng(0)
    _row("always the large model", train.routed(answered, np.zeros(count, bool)))
    _row("always the small model", train.routed(answered, np.ones(count, bool)))
    for name, of_prompts in scored.items():
        sure = train.accuracy(answered, of_prompts)
        for threshold in train.THRESHOLDS:
            is_small = of_prompts < threshold
            _row(f"{name}, below {threshold}", train.routed(answered, is_small), sure)
            shuffled = train.routed(answered, rng.permutation(is_small))
            _row("… as many by chance", shuffled)


def _row(name: str, routed: train.Routed, accuracy: float | None = None) -> None:
    sure = "" if accuracy is None else f"{accuracy:.0%}"
    print(f"| {name} | {sure} | {routed.to_small:.0%} | {routed.right:.1%} | {routed.saved:.0%} |")


if __name__ == "__main__":
    main()
