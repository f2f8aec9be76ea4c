"""What each process has to load."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.forkserver import fork


def loaded(modules: str, by: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", _program(modules, by)], capture_output=True, text=True, check=True
    ).stdout.strip()


def _program(modules: str, by: str) -> str:
    return f"import sys, {by}; print([m for m in {modules!r}.split() if m in sys.modules])"


def test_server_process_needs_no_torch_and_no_library_that_fetches():
    """It fetches nothing where its model is on this machine."""
    none = "torch transformers django fsspec tqdm huggingface_hub botocore"
    assert loaded(none, by="inference.server.app") == "[]"


def test_core_is_started_before_the_server_imports_what_it_serves_with():
    needed = "numpy tokenizers PIL gguf jinja2 llguidance prometheus_client inference.server.app"
    assert loaded(f"{needed} fsspec torch", by="inference.cli") == "[]"


def test_core_process_needs_no_transformers(tmp_path):
    """In a process that has torch and what else an engine imports of others, none of it these."""
    file, said = tmp_path / "core.py", tmp_path / "said.txt"
    file.write_text(_program("transformers starlette django", by="inference.core_main"))
    with said.open("wb") as output:
        run = fork(("python", str(file)), environment=os.environ, output=output, kind="engine")
    assert (run.wait(), said.read_text()) == (0, "[]\n")


def test_scheduler_needs_no_torch():
    assert loaded("torch", by="inference.scheduler.scheduler") == "[]"
