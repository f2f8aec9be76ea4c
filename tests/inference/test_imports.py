"""What each process has to load."""

from __future__ import annotations

import subprocess
import sys


def loaded(modules: str, by: str) -> str:
    code = f"import sys, {by}; print([m for m in {modules!r}.split() if m in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_server_process_needs_no_torch():
    assert loaded("torch transformers django", by="inference.cli") == "[]"


def test_core_process_needs_no_transformers():
    assert loaded("transformers starlette django", by="inference.core_main") == "[]"


def test_scheduler_needs_no_torch():
    assert loaded("torch", by="inference.scheduler.scheduler") == "[]"
