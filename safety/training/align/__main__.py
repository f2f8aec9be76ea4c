"""`python -m safety.training.align`: teach the default model what people prefer.

Trains a LoRA adapter on preference pairs (`python -m safety.training.preferences export`, or the
starting pairs of `safety/training/data` where no file is given), compares refusal and helpfulness
on held-out prompts with those before, and writes the adapter only where both hold. Exit code 0 when
it was kept, 1 when it was not.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch

from safety.training.align.evaluation import Comparison, measure, report
from safety.training.align.examples import complete, split
from safety.training.align.model import answers, load
from safety.training.align.training import Settings, train
from safety.training.preferences.pairs import PreferencePair, read_pairs
from safety.training.preferences.starting import starting_pairs

VAR = Path(__file__).resolve().parents[3] / "var"
MODEL = VAR / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
ANSWER_TOKENS = 24


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m safety.training.align",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--model", type=Path, default=MODEL, help="a GGUF file")
    parser.add_argument("--pairs", type=Path, help="JSON lines of safety.training.preferences")
    parser.add_argument("--starting-pairs", type=int, default=48)
    parser.add_argument("--steps", type=int, default=Settings().steps)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=VAR / "adapters" / "latest")
    parser.add_argument("--merge", action="store_true", help="also write the merged weights")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = Settings(steps=options.steps)
    torch.manual_seed(settings.seed)
    pairs = (
        list(read_pairs(options.pairs))
        if options.pairs
        else starting_pairs(options.starting_pairs, seed=settings.seed)
    )
    found = align(options.model, pairs, settings, options.out, merge=options.merge)
    return 0 if found.keep else 1


def align(
    model_file: Path,
    pairs: Sequence[PreferencePair],
    settings: Settings,
    out: Path,
    *,
    merge: bool = False,
) -> Comparison:
    """Train on `pairs` and write the adapter below `out` if it is worth keeping.

    What lay there is replaced only then. `report.json` beside it says why.

    Args:
        merge: also write `out/merged`, the whole model as `inference` serves it.
    """
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - started:6.0f} s] {line}", flush=True)  # noqa: T201

    model, tokenizer = load(model_file)
    say(f"{len(pairs)} pairs; the model answers where a side is open")
    own = partial(answers, model, tokenizer, max_tokens=ANSWER_TOKENS)
    parts = split(complete(pairs, own))
    say(f"{len(parts.train)} pairs to train on, {len(parts.held_out)} held out")
    before = measure(model, tokenizer, parts.held_out, answer_tokens=ANSWER_TOKENS)
    say(f"training, {settings.steps} steps of {settings.batch}")
    with tempfile.TemporaryDirectory() as work:
        trained = train(model, tokenizer, parts.train, settings, Path(work))
    after = measure(trained, tokenizer, parts.held_out, answer_tokens=ANSWER_TOKENS)
    found = Comparison(before, after)
    say("done")
    print(report(found))  # noqa: T201
    if found.keep:
        shutil.rmtree(out, ignore_errors=True)
        trained.save_pretrained(out)
        summary = {"settings": asdict(settings), "margin": found.margin, **_figures(found)}
        (out / "report.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
        if merge:
            merged = trained.merge_and_unload()
            merged.save_pretrained(out / "merged")
            tokenizer.save_pretrained(out / "merged")
        say(f"written to {out}")
    return found


def _figures(found: Comparison) -> dict[str, object]:
    return {"before": asdict(found.before), "after": asdict(found.after)}


if __name__ == "__main__":
    sys.exit(main())
