"""`python -m safety.bench`: how good the classifiers are, on sources that they never saw.

Prints, as Markdown: recall, false alarms and over-refusal by held-out source for the rules
alone, the network alone and the two together; AUROC; recall under each disguise; the cost of a
check. `--quick` leaves out what needs the training packages.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from safety.artefacts import card
from safety.decode import views
from safety.detect import memory_clear
from safety.disguises import DISGUISES
from safety.lexical import find
from safety.policy import DEFAULT_POLICY
from safety.post import PostClassifier
from safety.pre import PreClassifier
from safety.taxonomy import Category
from safety.types import Action, Halt, SafetyMessage

if TYPE_CHECKING:  # the readers need the optional group `safety-train`
    from safety.training.sources import Example

THRESHOLDS = np.array(
    [
        DEFAULT_POLICY.threshold(Category.HATE, "prompt"),
        DEFAULT_POLICY.threshold(Category.PROMPT_INJECTION, "prompt"),
        DEFAULT_POLICY.threshold(Category.HATE, "output"),
    ]
)
"""Of the three heads, under the default policy, which has one for every kind of harm."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only latency and streaming")
    options = parser.parse_args()
    say(f"Classifiers {card()['version']}: {card()['files']}")
    say(f"\n## Cost\n{latency()}\n{streaming_cost()}")
    if not options.quick:
        held_out()
        say(f"\n## Disguises\n{disguises()}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def latency(rounds: int = 200, length: int = 200) -> str:
    """CPU time of the pre-check for prompts of `length` words, each a new one."""
    words = [
        "please",
        "tell",
        "me",
        "how",
        "the",
        "old",
        "garden",
        "near",
        "our",
        "house",
        "could",
        "be",
        "watered",
        "in",
        "summer",
        "when",
        "it",
        "is",
        "dry",
        "and",
        "hot",
        "and",
        "nobody",
        "has",
        "time",
        "to",
        "carry",
        "water",
        "from",
        "the",
        "well",
        "behind",
        "the",
        "barn",
        "every",
        "day",
    ]
    generator = np.random.default_rng(1)
    check = PreClassifier()
    taken: list[float] = []
    for _ in range(rounds):
        text = " ".join(generator.choice(words, length))
        started = time.process_time()
        check.check([SafetyMessage("user", text)], DEFAULT_POLICY)
        taken.append((time.process_time() - started) * 1e3)
    taken = sorted(taken[5:])
    p50, p99 = statistics.median(taken), taken[int(len(taken) * 0.99) - 1]
    return f"Pre-check of {length} words, CPU time: p50 {p50:.1f} ms, p99 {p99:.1f} ms."


def streaming_cost(words: int = 1_000) -> str:
    """CPU time per chunk (one word each) of the post-check, and how much it holds back."""
    text = "The river bends twice before it reaches the old mill, where people once met to trade. "
    classifier = PostClassifier(DEFAULT_POLICY)
    fed = sent = longest = chunks = 0
    started = time.process_time()
    for word in (text * (words // 17 + 1)).split(" ")[:words]:
        fed += len(word) + 1
        sent += len(classifier.feed(word + " ").text)
        longest = max(longest, fed - sent)
        chunks += 1
    cost = (time.process_time() - started) * 1e3 / chunks
    return f"Post-check: {cost:.2f} ms CPU a chunk; at most {longest} characters held back."


def held_out() -> None:
    """Tables over out-of-fold predictions; needs the training packages and their data."""
    from safety.training.corpus import corpus
    from safety.training.evaluation import calibration, out_of_fold

    examples = corpus()
    logits = out_of_fold(examples, seed=int(card()["seed"]), report=say)
    slope, shift = calibration(examples, logits)
    network = 1.0 / (1.0 + np.exp(-(slope * logits + shift)))
    rules = np.array([_rule_scores(e.text) if e.kind == "prompt" else (0.0, 0.0) for e in examples])
    say("\n## Prompts, by held-out source\n")
    say("Share flagged (harm or attack) at the default threshold.\n")
    say("| source | texts | rules | network | together |\n|---|---|---|---|---|")
    network_flags = np.any(network[:, :2] >= THRESHOLDS[:2], axis=1)
    rule_flags = np.any(rules >= THRESHOLDS[:2], axis=1)
    for label in ("harmful", "attack", "borderline", "benign"):
        labelled = [e for e in examples if e.label == label and e.kind == "prompt"]
        for group in sorted({e.group for e in labelled}):
            mask = _prompts(examples, label) & np.array([e.group == group for e in examples])
            say(_row(f"{label}: {group}", mask, rule_flags, network_flags))
        say(_row(f"**{label}, all**", _prompts(examples, label), rule_flags, network_flags))
    ordinary = _prompts(examples, "benign")
    harmful, attack = _prompts(examples, "harmful"), _prompts(examples, "attack")
    say(f"\nAUROC, harmful against benign: {auroc(logits[harmful, 0], logits[ordinary, 0]):.3f};")
    say(f"attacks against benign: {auroc(logits[attack, 1], logits[ordinary, 1]):.3f}.")
    say(baseline(examples))
    for rate in (0.005, 0.01):
        cut = np.quantile(logits[ordinary, 0], 1 - rate)
        recall = (logits[harmful, 0] > cut).mean()
        say(f"Network alone, recall of harmful at {rate:.1%} false positives: {recall:.3f}.")
    say("\n## Answers, by held-out source (whole text, network alone)\n")
    say("| source | texts | flagged |\n|---|---|---|")
    for label in ("harmful", "benign"):
        outputs = [(i, e) for i, e in enumerate(examples) if e.kind == "output"]
        for group in sorted({e.group for _, e in outputs if e.label == label}):
            chosen = [i for i, e in outputs if e.group == group and e.label == label]
            share = (network[chosen, 2] >= THRESHOLDS[2]).mean()
            say(f"| {label}: {group} | {len(chosen)} | {share:.3f} |")
    _halted(examples)


def baseline(examples: Sequence["Example"]) -> str:
    """A linear model over character n-grams, on the same folds, for comparison."""
    from safety.training.baselines import ngram_scores

    scores = ngram_scores(examples, seed=int(card()["seed"]))
    ordinary = scores[_prompts(examples, "benign")]
    cut = np.quantile(ordinary, 0.99)
    found = {label: scores[_prompts(examples, label)] for label in ("harmful", "attack")}
    shares = ", ".join(f"{label} {(s > cut).mean():.3f}" for label, s in found.items())
    return (
        f"Character n-grams alone, at 1 % false positives: {shares}; "
        f"AUROC, harmful against benign: {auroc(found['harmful'], ordinary):.3f}."
    )


def _halted(examples: Sequence["Example"]) -> None:
    """How many known harmful answers the shipped post-classifier halts, and where."""
    harmful = [e.text for e in examples if e.kind == "output" and e.label == "harmful"][::4]
    halted, shares = 0, []
    for text in harmful:
        classifier, sent = PostClassifier(DEFAULT_POLICY), 0
        for start in range(0, len(text), 5):
            verdict = classifier.feed(text[start : start + 5])
            sent += len(verdict.text)
            if isinstance(verdict, Halt):
                halted += 1
                shares.append(sent / len(text))
                break
    share = statistics.median(shares) if shares else 1.0
    say(f"\nStreamed, {len(harmful)} known harmful answers (also trained on): {halted} halted,")
    say(f"half of them before {share:.0%} of the text was sent.")


def disguises(count: int = 60) -> str:
    """Recall of the shipped cascade under each disguise, among requests it catches plain."""
    from safety.training.sources import harmbench

    caught = [e.text for e in harmbench() if _blocked(e.text)][:count]
    lines = ["| disguise | still caught |", "|---|---|"]
    for name, disguise in DISGUISES.items():
        share = sum(_blocked(disguise(text)) for text in caught) / len(caught)
        lines.append(f"| {name} | {share:.2f} |")
    memory_clear()
    return "\n".join(lines)


def _blocked(text: str) -> bool:
    decision = PreClassifier().check([SafetyMessage("user", text)], DEFAULT_POLICY)
    return decision.action is not Action.ALLOW


def _rule_scores(text: str) -> tuple[float, float]:
    """Harm and attack according to the rules alone, over every decoded view."""
    harm = attack = 0.0
    for view in views(text):
        for match in find(view.text, "prompt"):
            if match.rule.category is Category.PROMPT_INJECTION:
                attack = max(attack, match.rule.score)
            else:
                harm = max(harm, match.rule.score)
    return harm, attack


def _prompts(examples: Sequence["Example"], label: str) -> np.ndarray:
    return np.array([e.kind == "prompt" and e.label == label for e in examples])


def _row(name: str, mask: np.ndarray, rules: np.ndarray, network: np.ndarray) -> str:
    shares = (rules[mask].mean(), network[mask].mean(), (rules | network)[mask].mean())
    return f"| {name} | {mask.sum()} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


def auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Probability that a positive scores over a negative, ties counting half."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.sum() / 2 / len(positive) / len(negative))


if __name__ == "__main__":
    main()
