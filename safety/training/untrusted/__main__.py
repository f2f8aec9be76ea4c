"""`python -m safety.training.untrusted`: what becomes of honest and of hostile untrusted content.

Prints how much of each is read by a model as it is, with its spaces replaced, without the places
that read like orders, or not at all, by the default policy; and how many of the characters of those
that lose places are read. No training of the head has read any of it (`held_out`). `--own` leaves
out what is fetched from a package index. `--tools` prints instead how many tools are held by what
is said of them. `--short` prints what is read of short texts with orders in them.
"""

import argparse
import math
import sys
from collections.abc import Sequence

from safety.judge.policy import DEFAULT_POLICY
from safety.judge.spotlight import DATAMARK_FROM, injection_score, withheld_spans
from safety.judge.tool_texts import orders_in_tool
from safety.training.untrusted.held_out import own_corpora, published_corpora
from safety.training.untrusted.short import SHORT_HEAD, short_corpora, short_row
from safety.training.untrusted.tool_texts import tool_corpora


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--own", action="store_true", help="only what needs no download")
    parser.add_argument("--tools", action="store_true", help="only what is said of tools")
    parser.add_argument("--short", action="store_true", help="only short texts with orders")
    options = parser.parse_args()
    if options.tools:
        sys.stdout.write(tools_table())
        return
    if options.short:
        sys.stdout.write(SHORT_HEAD)
        for name, short in short_corpora(published=not options.own):
            sys.stdout.write(short_row(name, short))
        return
    sys.stdout.write(
        "| content | n | as it is | spaces replaced | places or all withheld | 95 % interval"
        " | all withheld | of the others is read |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|\n"
    )
    for corpora in (own_corpora(), *([] if options.own else [published_corpora()])):
        for name, texts in corpora:
            sys.stdout.write(row(name, texts))
            sys.stdout.flush()


def tools_table() -> str:
    """How many tools a server's manager has to look at, and how their descriptions score."""
    lines = ["| tools | n | held | lowest score | highest |", "|---|--:|--:|--:|--:|"]
    for name, tools in tool_corpora():
        held = sum(bool(orders_in_tool(tool)) for tool in tools)
        scores = [injection_score(tool["description"]) for tool in tools]
        lines.append(f"| {name} | {len(tools)} | {held} | {min(scores):.3f} | {max(scores):.3f} |")
    return "\n".join([*lines, ""])


def row(name: str, texts: Sequence[str]) -> str:
    spans = [withheld_spans(text, DEFAULT_POLICY) for text in texts]
    withheld = [bool(places) for places in spans]
    left = [
        1 - sum(place.end - place.start for place in places) / len(text)
        for text, places in zip(texts, spans, strict=True)
        if places
    ]
    in_part = [share for share in left if share > 0]
    marked = [injection_score(text) >= DATAMARK_FROM for text in texts]
    count, kept_back = len(texts), sum(withheld)
    replaced = sum(marked) - sum(map(min, marked, withheld))
    shares = (count - replaced - kept_back, replaced, kept_back)
    cells = " | ".join(f"{share / count:.1%}" for share in shares)
    low, high = interval(kept_back, count)
    whole = f"{(kept_back - len(in_part)) / count:.1%}"
    read = f"{sum(in_part) / len(in_part):.0%}" if in_part else ""
    return f"| {name} | {count} | {cells} | {low:.1%} to {high:.1%} | {whole} | {read} |\n"


def interval(found: int, count: int) -> tuple[float, float]:
    """Where the true share lies, 95 % sure. Source: Wilson 1927."""
    z = 1.96
    share, spread = found / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / count / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


if __name__ == "__main__":
    main()
