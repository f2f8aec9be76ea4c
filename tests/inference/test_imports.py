"""What each process has to load."""

from __future__ import annotations

import subprocess
import sys


def loaded(modules: str, by: str) -> str:
    code = f"import sys, {by}; print([m for m in {modules!r}.split() if m in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_server_process_needs_no_torch_and_no_library_that_fetches():
    """It fetches nothing where its model is on this machine."""
    none = "torch transformers django fsspec tqdm huggingface_hub botocore"
    assert loaded(none, by="inference.server.app") == "[]"


def test_core_is_started_before_the_server_imports_what_it_serves_with():
    needed = "numpy tokenizers PIL gguf jinja2 llguidance prometheus_client inference.server.app"
    assert loaded(f"{needed} fsspec torch", by="inference.cli") == "[]"


def test_core_process_needs_no_transformers():
    assert loaded("transformers starlette django", by="inference.core_main") == "[]"


def test_scheduler_needs_no_torch():
    assert loaded("torch", by="inference.scheduler.scheduler") == "[]"
