"""`python -m safety.training.preferences export FILE`: what users and reviewers said, as pairs.

Reads the running product's database through its own commands (`manage.py export_feedback`,
`export_reviews`), which know those tables; or files that they wrote elsewhere.
"""

import argparse
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from safety.training.preferences.pairs import pairs_from_reviews, pairs_from_thumbs, write_pairs

MANAGE = Path(__file__).resolve().parents[3] / "manage.py"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m safety.training.preferences", description=__doc__
    )
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="write preference pairs as JSON lines")
    export.add_argument("target", type=Path)
    export.add_argument("--feedback", type=Path, help="a file of `export_feedback`")
    export.add_argument("--reviews", type=Path, help="a file of `export_reviews`")
    options = parser.parse_args(arguments)
    if options.feedback is None and options.reviews is None:
        ratings, reviews = _from_product("export_feedback"), _from_product("export_reviews")
    else:
        ratings, reviews = _rows_of(options.feedback), _rows_of(options.reviews)
    pairs = [*pairs_from_thumbs(ratings), *pairs_from_reviews(reviews)]
    count = write_pairs(options.target, pairs)
    by_source = dict(Counter(pair.source for pair in pairs))
    sys.stdout.write(f"{count} pairs in {options.target} {by_source}\n")
    return 0


def _from_product(command: str) -> list[dict[str, Any]]:
    """The rows that a management command prints, of the product that runs from this folder."""
    from django.apps import apps
    from django.core.management import call_command

    if apps.ready:
        printed = io.StringIO()
        call_command(command, stdout=printed)
        text = printed.getvalue()
    else:
        # `manage.py` finds the services of the running product, which we may not know.
        done = subprocess.run(  # noqa: S603
            [sys.executable, str(MANAGE), command], stdout=subprocess.PIPE, text=True, check=True
        )
        text = done.stdout
    return [json.loads(line) for line in text.splitlines()]


def _rows_of(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
