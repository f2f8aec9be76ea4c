"""The tables of `make bench-safety` that need the training data: figures of held-out sources."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from safety.judge.policy import DEFAULT_POLICY
from safety.judge.pre import PreClassifier
from safety.judge.prompt import Prompt
from safety.read.decode import views
from safety.score.detect import memory_clear
from safety.score.rules import find
from safety.stream.post import PostClassifier
from safety.stream.watch import raised_for_uncertain_prompt
from safety.taxonomy import Category
from safety.training.baselines import (
    embedding_scores,
    keyword_scores,
    ngram_scores,
    profanity_scores,
)
from safety.training.corpus import corpus
from safety.training.disguises import DISGUISES
from safety.training.example import Example
from safety.training.folds import DOCUMENTS, EXAM, is_ordinary
from safety.training.heads import CATEGORIES
from safety.training.held_out import HeldOut, is_kept, kept
from safety.training.sources import harmbench
from safety.training.train import Prepared, build
from safety.types import Action, Halt, SafetyMessage

HARM_THRESHOLD = DEFAULT_POLICY.threshold(Category.HATE, "prompt")
ATTACK_THRESHOLD = DEFAULT_POLICY.threshold(Category.PROMPT_INJECTION, "prompt")
ANSWER_THRESHOLD = DEFAULT_POLICY.threshold(Category.HATE, "output")
RATES = (0.005, 0.01)


def tables(report: Callable[[str], None]) -> Iterator[str]:
    """The report, line by line; on a machine that has not trained yet, that is done first.

    Args:
        report: called with the progress of training.
    """
    if not is_kept(corpus()):
        build(report)
    ready = Prepared(report)
    unseen = ready.unseen(report)
    held, held_where_slow = (
        kept(ready.examples, unseen, is_slow=is_slow) for is_slow in (False, True)
    )
    scored = only_scored(held)
    rules = np.array([_rule_scores(e.text) for e in scored.prompts])
    yield from _by_source(scored, rules)
    yield from _where_slow({"long texts": scored, "few of them": only_scored(held_where_slow)})
    yield from _against_baselines(held, scored, rules)
    yield from _by_category(scored)
    yield from _answers(held)
    yield from _disguised()


def only_scored(held: HeldOut) -> HeldOut:
    """`held` with those prompts only that were held out."""
    chosen = held.scored
    return replace(
        held,
        prompts=[e for e, wanted in zip(held.prompts, chosen, strict=True) if wanted],
        scored=chosen[chosen],
        logits=held.logits[chosen],
        scores=held.scores[chosen],
        named=held.named[chosen],
    )


def _by_source(held: HeldOut, rules: np.ndarray) -> Iterator[str]:
    yield "\n## Prompts, by held-out source\n"
    yield "Share flagged (harm or attack) at the thresholds of the default policy.\n"
    yield "| source | texts | rules | classifier | together |\n|---|--:|--:|--:|--:|"
    limits = np.array([HARM_THRESHOLD, ATTACK_THRESHOLD])
    learned = np.asarray((held.scores >= limits).any(axis=1))
    ruled = np.asarray((rules >= limits).any(axis=1))

    def row(name: str, chosen: np.ndarray) -> str:
        shares = (ruled[chosen].mean(), learned[chosen].mean(), (ruled | learned)[chosen].mean())
        return f"| {name} | {chosen.sum()} | " + " | ".join(f"{s:.3f}" for s in shares) + " |"

    for label in ("harmful", "attack", "borderline", "benign"):
        labelled = _where(held.prompts, lambda e, label=label: e.label == label)  # type: ignore[misc]
        for group in sorted({e.group for e in held.prompts if e.label == label}):
            of_group = _where(held.prompts, lambda e, group=group: e.group == group)  # type: ignore[misc]
            yield row(f"{label}: {group}", labelled & of_group)
        yield row(f"**{label}, all**", labelled)
    own = _where(held.prompts, lambda e: e.group.startswith("own_") and e.label != "harmful")
    yield row("**ordinary, without documents**", _where(held.prompts, is_ordinary))
    yield row("**own benign and borderline prompts**", own)


def _where_slow(held_by_mode: dict[str, HeldOut]) -> Iterator[str]:
    yield "\n## Where an encoding is slow\n"
    yield (
        "What the encoder reads where it is quick and where it is slow, and what the classifier "
        "alone flags then (without the exam).\n"
    )
    yield "| the encoder reads | harmful | attack | borderline | ordinary | documents |"
    yield "|---|--:|--:|--:|--:|--:|"
    limits = np.array([HARM_THRESHOLD, ATTACK_THRESHOLD])
    for mode, held in held_by_mode.items():
        flagged = np.asarray((held.scores >= limits).any(axis=1))
        groups = [
            _where(held.prompts, lambda e: e.label == "harmful" and e.group not in EXAM),
            _where(held.prompts, lambda e: e.label == "attack" and e.group not in EXAM),
            _where(held.prompts, lambda e: e.label == "borderline" and e.group not in EXAM),
            _where(held.prompts, is_ordinary),
            _where(held.prompts, lambda e: e.group in DOCUMENTS),
        ]
        yield f"| {mode} | " + " | ".join(f"{flagged[g].mean():.3f}" for g in groups) + " |"


def _against_baselines(everything: HeldOut, held: HeldOut, rules: np.ndarray) -> Iterator[str]:
    """Every method's recall at the same false alarms on the same texts."""
    ordinary = _where(held.prompts, is_ordinary)
    groups = {
        "harmful": _where(held.prompts, lambda e: e.label == "harmful"),
        "attack": _where(held.prompts, lambda e: e.label == "attack"),
    }
    borderline = _where(held.prompts, lambda e: e.label == "borderline")
    twins = borderline & _where(held.prompts, lambda e: e.group in EXAM)
    worst = _over_thresholds(held.scores)
    others = {
        "keyword list": keyword_scores(everything.prompts),
        "alt-profanity-check": profanity_scores(everything.prompts),
        "character n-grams": ngram_scores(everything.prompts),
        "MiniLM vectors, linear": embedding_scores(everything.prompts),
    }
    methods = {name: scores[everything.scored] for name, scores in others.items()} | {
        "classifier": worst,
        "classifier and rules": np.maximum(worst, _over_thresholds(rules)),
    }
    yield "\n## Against baselines\n"
    yield "Recall at a false alarm rate on ordinary prompts; borderline prompts refused at 1 %.\n"
    yield (
        "| method | AUROC harmful | AUROC attack | harmful 0.5 % | harmful 1 % | attack 0.5 % "
        "| attack 1 % | borderline | borderline of the exam |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for name, scores in methods.items():
        cuts = [np.quantile(scores[ordinary], 1 - rate) for rate in RATES]
        figures = [auroc(scores[chosen], scores[ordinary]) for chosen in groups.values()]
        figures += [(scores[chosen] > cut).mean() for chosen in groups.values() for cut in cuts]
        figures += [(scores[chosen] > cuts[1]).mean() for chosen in (borderline & ~twins,)]
        figures += [(scores[twins] > cuts[1]).mean()]
        yield f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


def _over_thresholds(scores: np.ndarray) -> np.ndarray:
    """How far the worse of harm and attack [n, 2] lies over its threshold, in log odds: the two
    have thresholds of their own, so that their scores cannot be compared as they are."""
    clipped = np.clip(scores, 1e-9, 1 - 1e-9)
    limits = np.array([HARM_THRESHOLD, ATTACK_THRESHOLD])
    odds: np.ndarray = np.log(clipped / (1 - clipped)) - np.log(limits / (1 - limits))
    return odds.max(axis=1)


def _by_category(held: HeldOut) -> Iterator[str]:
    """Of the harmful prompts whose source names a category: recall, and whether it is named."""
    ordinary = _where(held.prompts, is_ordinary)
    cuts = [np.quantile(held.logits[ordinary, 0], 1 - rate) for rate in RATES]
    yield "\n## By category (sources that name one; the classifier alone)\n"
    yield "| category | texts | recall at 0.5 % | at 1 % | named rightly |\n|---|--:|--:|--:|--:|"
    for number, category in enumerate(CATEGORIES):
        chosen = _where(held.prompts, lambda e, c=category: e.category is c)  # type: ignore[misc]
        if not chosen.any():
            continue
        shares = [(held.logits[chosen, 0] > cut).mean() for cut in cuts]
        named = held.named[chosen]
        read = np.ptp(named, axis=1) > 0  # what ends at the embedding screen gets no name
        shares.append((read & (named.argmax(axis=1) == number)).mean())
        yield f"| {category} | {chosen.sum()} | " + " | ".join(f"{s:.3f}" for s in shares) + " |"


def _answers(held: HeldOut) -> Iterator[str]:
    yield "\n## Answers, by held-out source (worst window, by the verifier)\n"
    yield "| source | texts | flagged |\n|---|--:|--:|"
    flagged = held.answer_scores >= ANSWER_THRESHOLD
    for label in ("harmful", "benign"):
        outputs = list(enumerate(held.answers))
        for group in sorted({e.group for _, e in outputs if e.label == label}):
            chosen = [i for i, e in outputs if e.label == label and e.group == group]
            yield f"| {label}: {group} | {len(chosen)} | {flagged[chosen].mean():.3f} |"
    yield from _beside_prompts(held)
    harmful = [e for e in held.answers if e.label == "harmful" and len(e.text) > 200]
    ordinary = [e for e in held.answers if e.group.startswith("ordinary_answers")]
    yield from _halted("harmful", harmful[::4])
    yield from _halted("ordinary", ordinary[::3])


def _beside_prompts(held: HeldOut) -> Iterator[str]:
    """What an uncertain prompt adds to the verifier's score, where the prompt itself passes."""
    yield "\n### Beside their prompts, of those that the pre-check lets through\n"
    yield "The answers are held out, their prompts are not.\n"
    yield "| source | texts | flagged alone | with the prompt |\n|---|--:|--:|--:|"
    rows: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for example, score in zip(held.answers, held.answer_scores, strict=True):
        if not example.prompt or _blocked(example.prompt):
            continue
        raised = raised_for_uncertain_prompt({Category.HATE: float(score)})[Category.HATE]
        alone, beside = (value >= ANSWER_THRESHOLD for value in (score, raised))
        uncertain = Prompt([SafetyMessage("user", example.prompt)]).is_uncertain
        rows[f"{example.label}: {example.group}"].append((alone, alone or (beside and uncertain)))
    for name, found in sorted(rows.items()):
        alone_share, both_share = np.mean(found, axis=0)
        yield f"| {name} | {len(found)} | {alone_share:.3f} | {both_share:.3f} |"


def _halted(kind: str, answers: Sequence[Example]) -> Iterator[str]:
    """How many known answers the shipped post-check halts, and where."""
    for how in ("alone", "with their prompts"):
        asked = [example.prompt if how != "alone" else "" for example in answers]
        found = [_sent(e.text, q) for e, q in zip(answers, asked, strict=True)]
        shares = [share for share in found if share is not None]
        middle = statistics.median(shares) if shares else 1.0
        yield f"\nStreamed {how}, {len(answers)} known {kind} answers (also trained on):"
        yield f"{len(shares)} halted, half of them before {middle:.0%} of the text was sent."


def _sent(text: str, prompt: str) -> float | None:
    """The share of a streamed answer that was sent before its halt; None where none came."""
    context = [SafetyMessage("user", prompt)] if prompt else []
    classifier, sent = PostClassifier(DEFAULT_POLICY, context), 0
    for start in range(0, len(text), 5):
        verdict = classifier.feed(text[start : start + 5])
        sent += len(verdict.text)
        if isinstance(verdict, Halt):
            return sent / len(text)
    return None


_STORY = "The river bends twice before it reaches the mill where children sell apples. " * 20


def _amid_a_story(text: str) -> str:
    return f"{_STORY}{text} {_STORY}"


def _a_line_of_a_story(text: str) -> str:
    return f"{_STORY}\n{text}\n{_STORY}"


def _disguised(count: int = 80) -> Iterator[str]:
    """Recall of the shipped cascade under each disguise, among requests that it stops plain."""
    caught = [e.text for e in harmbench() if _blocked(e.text)][:count]
    yield f"\n## Disguises ({len(caught)} HarmBench requests that are stopped when plain)\n"
    yield "| disguise | still stopped |\n|---|--:|"
    hidden = {"amid a long story": _amid_a_story, "a line of it": _a_line_of_a_story}
    for name, disguise in {**DISGUISES, **hidden}.items():
        share = sum(_blocked(disguise(text)) for text in caught) / len(caught)
        yield f"| {name} | {share:.2f} |"
    memory_clear()


def _blocked(text: str) -> bool:
    decision = PreClassifier().check([SafetyMessage("user", text)], DEFAULT_POLICY)
    return decision.action is Action.BLOCK


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


def _where(examples: Sequence[Example], wanted: Callable[[Example], bool]) -> np.ndarray:
    return np.array([wanted(example) for example in examples])


def auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Probability that a positive scores over a negative, ties counting half."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.sum() / 2 / len(positive) / len(negative))
