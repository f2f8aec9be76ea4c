"""`make bench-batches`: what a batch's file costs to read and to write, in seconds and memory.

In a database of its own that is dropped afterwards: a file of so many requests is stored, read into
rows, each row given an answer, and the output file written. First a small one, so that what this
process needs in any case is known; then the peak of its memory says what a large one adds.
"""

import json
import os
import resource
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from django.core.management.base import BaseCommand
from django.utils import timezone

from backend.accounts.models import Organization, Plan, User
from backend.api.batches.finish import batch_finish
from backend.api.batches.rows import WINDOW
from backend.api.batches.validate import batch_validate
from backend.api.files.rows import file_store, files_remove
from backend.api.models import Batch, BatchLine, FilePurpose, StoredFile
from backend.generation.pools.config import load_pools
from backend.platform.bench_database import bench_database

_PROMPT = "Tell me of the weather in the mountains. " * 12
_ANSWER = "It is sunny, and it will stay so until the evening. " * 8


class Command(BaseCommand):
    help = "What a batch of so many lines costs to read and to write."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lines", type=int, default=100_000)

    def handle(self, *args: Any, **options: Any) -> None:
        os.environ.setdefault("PARLEY_ENGINE_URL", "http://127.0.0.1:1")  # nothing is asked
        with bench_database():
            organization = Organization.objects.create(name="Benchmark")
            user = User.objects.create(email="bench@example.org")
            Plan.objects.update(batch_lines=10_000_000, file_bytes=10**12)
            self.stdout.write(f"{'lines':>9} {'file':>9} {'step':>9} {'seconds':>9} {'peak':>9}")
            for lines in (1_000, options["lines"]):
                self._measure(organization, user, lines)

    def _measure(self, organization: Organization, user: User, lines: int) -> None:
        size = 0

        def step(name: str, work: Callable[[], Any]) -> Any:
            started = time.monotonic()
            result = work()
            seconds = time.monotonic() - started
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            self.stdout.write(
                f"{lines:>9,} {size / 1e6:>6.1f} MB {name:>9} {seconds:>9.2f} {peak:>6.0f} MB"
            )
            return result

        with tempfile.TemporaryFile() as source:
            size = _write(cast(BinaryIO, source), lines)
            file = step("store", lambda: _stored(organization, user, source, size))
        batch = Batch.objects.create(
            organization=organization,
            user=user,
            endpoint="/v1/chat/completions",
            input_file_id=file.pk,
            expires_at=timezone.now() + WINDOW,
        )
        step("read", lambda: batch_validate(batch.pk))
        batch.refresh_from_db()
        assert batch.total == lines, batch.problems
        step("answer", lambda: _answer(batch))
        step("write", lambda: batch_finish(batch.pk))
        batch.refresh_from_db()
        assert batch.completed == lines
        files_remove(StoredFile.objects.filter(organization=organization))


def _write(source: BinaryIO, lines: int) -> int:
    model = load_pools().models[0].id
    for number in range(lines):
        body = {"model": model, "messages": [{"role": "user", "content": _PROMPT}]}
        request = {"custom_id": str(number), "method": "POST", "url": "/v1/chat/completions"}
        source.write(json.dumps({**request, "body": body}).encode() + b"\n")
    size = source.tell()
    source.seek(0)
    return size


def _stored(organization: Organization, user: User, source: Any, size: int) -> StoredFile:
    return file_store(
        organization_id=organization.pk,
        user_id=user.pk,
        project_id=None,
        purpose=FilePurpose.BATCH,
        filename="bench.jsonl",
        source=source,
        size=size,
    )


def _answer(batch: Batch) -> None:
    answer = {"custom_id": "x", "response": {"status_code": 200, "body": {"text": _ANSWER}}}
    BatchLine.objects.filter(batch=batch).update(is_done=True, answer=json.dumps(answer))
