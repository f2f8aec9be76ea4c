"""`python -m safety.training.bench`: how good the classifiers are, on sources that they never saw.

Prints, as Markdown: the cost of a check; flags of short sentences that look like attacks to it;
recall, false alarms and over-refusal by held-out source; AUROC and recall at fixed false alarms,
beside baselines; recall by category; answers; recall under each disguise. `--quick` leaves out what
needs the group `safety-train`.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, cycle, islice
from pathlib import Path

import numpy as np

from safety.judge.policy import DEFAULT_POLICY
from safety.judge.pre import PreClassifier
from safety.score.answer_model import answer_model
from safety.score.artefacts import card
from safety.score.classifier import classifier
from safety.score.detect import product_vocabulary
from safety.score.features import normalized_words
from safety.stream.post import PostClassifier
from safety.training.example import OWN_DATA, lines, with_line_breaks
from safety.types import Action, SafetyMessage

_BENCH = OWN_DATA / "bench"
_SENTENCES = _BENCH / "sentences.txt"
_LOAD_ANSWER = Path(__file__).parents[2] / "infra" / "load" / "answer.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only latency and streaming")
    options = parser.parse_args()
    say(f"Classifiers {card()['version']}")
    for name, digest in card()["files"].items():
        say(f"{name}: SHA-256 {digest}")
    say(f"\n## Cost\n\n{encoding_cost()}\n{latency()}\n{streaming_cost()}\n{verifier_rate()}")
    say(speakers_flagged())
    if not options.quick:
        from safety.training.report import tables

        for line in tables(say):
            say(line)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def encoding_cost() -> str:
    """What the encoder costs here, and what follows from it; see `classifier.SLOW_CPU_PENALTY`."""
    model = classifier()
    cost = model.encoder.cost_s() * 1e3
    follows = "SLOW_CPU_PENALTY applies" if model.is_slow else "screened like short ones"
    return f"One encoding: {cost:.1f} ms CPU. Long texts: {follows}."


def latency(length: int = 200) -> str:
    """CPU time of the pre-check for prompts of `length` words: as people write them, and of
    sentences that do not belong together, in which more looks strange."""
    written = chain.from_iterable(lines(path) for path in sorted(_BENCH.glob("prompts-*.txt")))
    mixed = _mixed([sentence.split() for sentence in lines(_SENTENCES)], length)
    return "\n".join(
        f"Pre-check of {length} words, {kind}, CPU time: {_quantiles(texts, length)}."
        for kind, texts in {"ordinary prompts": written, "sentences in random order": mixed}.items()
    )


def _mixed(sentences: Sequence[Sequence[str]], length: int, count: int = 300) -> Iterator[str]:
    generator = np.random.default_rng(1)
    for _ in range(count):
        chosen = (sentences[number] for number in generator.permutation(len(sentences)))
        yield " ".join(list(chain.from_iterable(chosen))[:length])


def _quantiles(texts: Iterable[str], length: int) -> str:
    check = PreClassifier()
    taken: list[float] = []
    for text in texts:
        shortened = "".join(re.findall(r"\s*\S+", with_line_breaks(text))[:length])
        started = time.process_time()
        check.check([SafetyMessage("user", shortened)], DEFAULT_POLICY)
        taken.append((time.process_time() - started) * 1e3)
    taken = sorted(taken[5:])  # the first ones load what all others share
    p50, p99 = statistics.median(taken), taken[int(len(taken) * 0.99) - 1]
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def streaming_cost(count: int = 2_000) -> str:
    """CPU time per chunk (one word each) of the post-check, and how much it holds back."""
    words = cycle(" ".join(lines(_SENTENCES)).split())
    check = PostClassifier(DEFAULT_POLICY)
    fed = sent = longest = 0
    started = time.process_time()
    for word in islice(words, count):
        fed += len(word) + 1
        sent += len(check.feed(f"{word} ").text)
        longest = max(longest, fed - sent)
    cost = (time.process_time() - started) * 1e6 / count
    return f"Post-check: {cost:.0f} µs CPU a chunk; at most {longest} characters held back."


def verifier_rate() -> str:
    """How often the cheap score has the encoder read ordinary answers, and the load tests' one."""
    rows = (OWN_DATA / "answers" / "ordinary.jsonl").read_text(encoding="utf-8").splitlines()
    found = {
        "ordinary answers": [json.loads(row)["answer"] for row in rows],
        "the load tests' answer, over and over": [_LOAD_ANSWER.read_text(encoding="utf-8") * 5],
    }
    rates = [f"{_words_a_question(texts):.0f} words of {what}" for what, texts in found.items()]
    return f"The answer check's encoder is asked once in {', in '.join(rates)}."


def speakers_flagged() -> str:
    """How many short ordinary sentences of the form "Client 3 says: …" read like attacks."""
    check, prompts = PreClassifier(), list(lines(_BENCH / "speakers.txt"))
    decisions = [check.check([SafetyMessage("user", one)], DEFAULT_POLICY) for one in prompts]
    flagged = sum(decision.action is not Action.ALLOW for decision in decisions)
    return f"Flagged of {len(prompts)} short sentences that name who speaks: {flagged}."


def _words_a_question(texts: Sequence[str]) -> float:
    read = [normalized_words(text, product_vocabulary()) for text in texts]
    asked = sum(len(answer_model().verified_at(words)) for words in read)
    return sum(map(len, read)) / max(1, asked)


if __name__ == "__main__":
    main()
