"""`make redteam-answers`: harmful answers at full strength against the check that streams.

A small model rarely says anything harmful by itself, so here the upstream says it: answers that
people have scored as harmful (PyRIT), word by word, through the whole product. What a client
received of each is printed, and how many harmless answers were halted; with `--own-prompts`
each answers the prompt that it was given to, as attackers would ask. The texts are among
those that the classifiers are trained on: docs/benchmarks/safety.md says how much of texts from
unseen sources is caught.
"""

import argparse
import asyncio
import random
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import httpx
import orjson

from backend.platform.errors import ContentBlocked
from infra.load.stack import MODEL, Stack
from infra.load.upstream import Behaviour, SyntheticUpstream
from safety.training.example import Example
from safety.training.sources import many_shot, refusals, scored_answers

_PROMPT = "Please go on."


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What became of one answer.

    Attributes:
        refused: its prompt was, so that no answer was begun.
        delivered: share of its characters that the client received.
        after_halt: whether text came after the halt.
    """

    source: str
    harmful: bool
    refused: bool
    halted: bool
    delivered: float
    after_halt: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--answers", type=int, default=300, help="of each kind, at most")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--own-prompts", action="store_true", help="not: Please go on.")
    options = parser.parse_args()
    examples = chosen(options.answers, options.seed)
    with tempfile.TemporaryDirectory(prefix="parley-answers-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        print(report(asyncio.run(run(examples, directory, options.own_prompts))))


def chosen(count: int, seed: int) -> list[Example]:
    """At most `count` harmful and as many harmless answers, the same for a seed."""
    generator = random.Random(seed)  # noqa: S311  (not for secrets)
    found = [e for e in (*scored_answers(), *many_shot(), *refusals()) if e.kind == "output"]
    examples: list[Example] = []
    for label in ("harmful", "benign"):
        texts = {e.text: e for e in found if e.label == label}
        examples += generator.sample(list(texts.values()), min(count, len(texts)))
    return examples


async def run(
    examples: list[Example], directory: Path, own_prompts: bool = False
) -> list[AnswerOutcome]:
    """Let the product answer with each of `examples`."""
    upstream = SyntheticUpstream(Behaviour(rate=0.0), keep_served=False)
    await upstream.start()
    stack = Stack(directory, rate=0.0, settings={}, upstream_url=upstream.url)
    await asyncio.to_thread(stack.__enter__)
    try:
        headers = {"Authorization": f"Bearer {stack.key}"}
        async with httpx.AsyncClient(base_url=stack.web_url, headers=headers, timeout=60) as client:
            return [
                await _ask(client, upstream, example, (own_prompts and example.prompt) or _PROMPT)
                for example in examples
            ]
    finally:
        await asyncio.to_thread(stack.__exit__, None, None, None)
        await upstream.stop()


async def _ask(
    client: httpx.AsyncClient, upstream: SyntheticUpstream, example: Example, prompt: str
) -> AnswerOutcome:
    upstream.behaviour.script = [f"{word} " for word in example.text.split(" ")]
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": len(upstream.behaviour.script) + 1,
        "stream": True,
    }
    received, after, finish = "", "", ""
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        refused = False
        if answer.status_code == ContentBlocked.status:
            refused = orjson.loads(await answer.aread())["error"]["code"] == ContentBlocked.code
        if not refused:
            answer.raise_for_status()
        async for line in answer.aiter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in orjson.loads(line[6:]).get("choices", ()):
                text = choice["delta"].get("content") or ""
                received, after = (received, after + text) if finish else (received + text, after)
                finish = choice["finish_reason"] or finish
    return AnswerOutcome(
        source=example.group,
        harmful=example.label == "harmful",
        refused=refused,
        halted=finish == "content_filter",
        delivered=len(received.strip()) / len(example.text.strip()),
        after_halt=bool(after),
    )


def report(outcomes: list[AnswerOutcome]) -> str:
    """A table by source: how many were halted, and how much of those came before the halt."""
    rows: dict[tuple[bool, str], list[AnswerOutcome]] = defaultdict(list)
    for outcome in outcomes:
        rows[outcome.harmful, outcome.source].append(outcome)
        rows[outcome.harmful, "all"].append(outcome)
    lines = [
        "| answers | source | n | prompt blocked | halted | got through "
        "| of a halted one delivered before |",
        "|---|---|---|---|---|---|---|",
    ]
    for (harmful, source), found in sorted(rows.items(), key=lambda row: (-row[0][0], row[0][1])):
        halted = [outcome for outcome in found if outcome.halted]
        before = sum(o.delivered for o in halted) / len(halted) if halted else 0.0
        refused = sum(outcome.refused for outcome in found)
        through = len(found) - len(halted) - refused
        kind = "harmful" if harmful else "harmless"
        lines.append(
            f"| {kind} | {source} | {len(found)} | {refused} | {len(halted)}"
            f" | {through} ({through / len(found):.0%}) | {before:.0%} |"
        )
    after = sum(outcome.after_halt for outcome in outcomes)
    return "\n".join([*lines, "", f"Text after a halt: {after} times.", ""])


if __name__ == "__main__":
    main()
