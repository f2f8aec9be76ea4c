"""`make bench-retrieval`: the product's search beside plain BM25.

The handbook is stored in a database of its own, its passages are embedded by an engine that serves
the embedding model of `make run`, and every question is asked of

    BM25              bm25s with its own English tokenizer, over the passages as they are
    full text         `passages_search` without an embedding
    vectors           the passages by the cosine of the same embeddings
    hybrid            `passages_search` as a chat calls it

Only what the engine computes takes time; the figures are the same on every machine, but for the
last digits of vectors.
"""

import secrets
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import bm25s
import httpx
import numpy as np

from backend.accounts.services import user_create
from backend.conversations.models import Passage
from backend.conversations.passages import Embedding, embeddings_store, passages_search, unit
from backend.conversations.retrieval.corpus import KINDS, Question, handbook_store, questions
from backend.conversations.retrieval.figures import figures_of
from backend.platform.bench_database import bench_database

_ROOT = Path(__file__).parents[3]
_MODEL_FILE = _ROOT / "infra" / "models" / "qwen2.5-coder-1.5b.toml"
_AT_ONCE = 32
_LISTED = 50
_TIMEOUT_S = 300.0
Answer = tuple[str, str]
Ranked = Sequence[Answer]
Vectors = Sequence[Sequence[float]]
Embed = Callable[[Sequence[str]], Vectors]
Item = TypeVar("Item")


def measure() -> None:
    """Run and print."""
    with bench_database(), _engine() as embed:
        _run(embed)


def _run(embed: Embed) -> None:
    person = user_create(email="bench@example.com", password=secrets.token_urlsafe(), name="Bench")
    membership = person.memberships.get()
    passages = handbook_store(organization_id=membership.organization_id, user_id=person.pk)
    vectors = [v for some in _in_parts(passages) for v in embed([one.text for one in some])]
    embeddings_store(passages, vectors, model="bench")
    asked = questions()
    _refuse_unanswerable(asked, passages)
    meant = [v for some in _in_parts(asked) for v in embed([one.question for one in some])]
    lists = {
        "BM25": _by_bm25(passages, asked),
        "full text": [_by_product(one, passages, None) for one in asked],
        "vectors": [_by_vectors(v, passages, vectors) for v in meant],
        "hybrid": [
            _by_product(one, passages, Embedding("bench", unit(v)))
            for one, v in zip(asked, meant, strict=True)
        ],
    }
    _print(asked, lists, passages)


def _by_bm25(passages: Sequence[Passage], asked: Sequence[Question]) -> list[Ranked]:
    index = bm25s.BM25()
    index.index(_words([one.text for one in passages]), show_progress=False)
    k = min(_LISTED, len(passages))
    found = index.retrieve(_words([one.question for one in asked]), k=k, show_progress=False)
    return [
        [_name(passages[at]) for at, score in zip(row, scores, strict=True) if score > 0]
        for row, scores in zip(found.documents, found.scores, strict=True)
    ]


def _words(texts: list[str]) -> object:
    return bm25s.tokenize(texts, stopwords="en", show_progress=False)


def _by_product(
    question: Question, passages: Sequence[Passage], embedding: Embedding | None
) -> Ranked:
    ids = sorted({one.attachment_id for one in passages})
    among = Passage.objects.filter(attachment_id__in=ids)
    found = passages_search(among, ids, question.question, embedding=embedding, limit=_LISTED)
    names = {one.pk: _name(one) for one in passages}
    return [names[one.pk] for one in found]


def _by_vectors(meant: Sequence[float], passages: Sequence[Passage], vectors: Vectors) -> Ranked:
    matrix = np.stack([unit(vector) for vector in vectors])
    nearest = np.argsort(-(matrix @ unit(meant)), kind="stable")[:_LISTED]
    return [_name(passages[at]) for at in nearest]


def _name(passage: Passage) -> Answer:
    return passage.attachment.filename, passage.place


def _refuse_unanswerable(asked: Sequence[Question], passages: Sequence[Passage]) -> None:
    """A question whose section was renamed would count as never found."""
    missing = {one.answer for one in asked} - {_name(one) for one in passages}
    if missing:
        raise ValueError(f"No passage of the handbook is {sorted(missing)}.")


def _print(
    asked: Sequence[Question], lists: dict[str, list[Ranked]], passages: Sequence[Passage]
) -> None:
    print(f"{len(asked)} questions, {len(passages)} passages")
    print("| questions | search | recall@1 | recall@5 | MRR | nDCG@10 |")
    print("|---|---|--:|--:|--:|--:|")
    for kind in ("all", *KINDS):
        chosen = [at for at, one in enumerate(asked) if kind in ("all", one.kind)]
        for name, ranked in lists.items():
            got = figures_of([_rank(asked[at].answer, ranked[at]) for at in chosen])
            print(
                f"| {kind} ({len(chosen)}) | {name} | {got.recall_at_1:.3f}"
                f" | {got.recall_at_5:.3f} | {got.reciprocal_rank:.3f} | {got.ndcg_at_10:.3f} |"
            )


def _rank(answer: Answer, ranked: Ranked) -> int | None:
    return ranked.index(answer) + 1 if answer in ranked else None


def _in_parts(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for first in range(0, len(items), _AT_ONCE):
        yield items[first : first + _AT_ONCE]


@contextmanager
def _engine() -> Iterator[Embed]:
    """`/v1/embeddings` of an engine with the model that `make run` embeds with."""
    [beside, *_] = tomllib.loads(_MODEL_FILE.read_text())["beside"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    served = ["serve", "--model", beside["source"], "--served-model-name", beside["id"]]
    command = [sys.executable, "-m", "inference", *served, "--port", str(port), "--no-api-key"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=_ROOT, stdout=log, stderr=log)  # noqa: S603
        try:
            _wait_until_ready(process, url)
            with httpx.Client(base_url=url, timeout=_TIMEOUT_S) as client:
                yield partial(_embed, client, beside["id"])
        except BaseException:
            log.seek(0)
            print(log.read().decode(errors="replace")[-2_000:], file=sys.stderr)
            raise
        finally:
            process.terminate()
            process.wait()


def _embed(client: httpx.Client, model: str, texts: Sequence[str]) -> Vectors:
    answer = client.post("/v1/embeddings", json={"model": model, "input": list(texts)})
    answer.raise_for_status()
    return [one["embedding"] for one in sorted(answer.json()["data"], key=lambda one: one["index"])]


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    """Raises RuntimeError: it ended, or took longer than fetching its weights may take."""
    ends_at = time.monotonic() + _TIMEOUT_S
    while process.poll() is None and time.monotonic() < ends_at:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ready", timeout=5).status_code == httpx.codes.OK:
                return
        time.sleep(0.3)
    raise RuntimeError("The engine of the embedding model did not start.")
