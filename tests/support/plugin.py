"""Real PostgreSQL, Valkey and event log for one test run, on free ports.

Loaded by `-p` (pyproject.toml), because it must set the environment before pytest-django reads
the Django settings. A variable that is set already is kept: CI may bring its own services.
Everything lies in one temporary directory that is removed at the end.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.services import ServiceBundle

SERVICES = pytest.StashKey[ServiceBundle]()

# Read when triton is first imported, by whichever test comes first: without a GPU its kernels are
# interpreted.
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# A port that answers with a refusal at once: tests that need an engine bring one.
_NO_ENGINE = "http://127.0.0.1:9"


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start the services; a wrapper, so that it comes before pytest-django's own hook."""
    directory = Path(tempfile.mkdtemp(prefix="parley-tests-"))
    # The database's unprivileged account must be able to pass; nobody can list it.
    directory.chmod(0o711)
    early_config.add_cleanup(lambda: shutil.rmtree(directory, ignore_errors=True))

    os.environ["PARLEY_TEST_DIRECTORY"] = str(directory)
    bundle = ServiceBundle(directory / "services", os.environ, throw_away=True)
    early_config.add_cleanup(bundle.destroy)
    os.environ.update(bundle.start())
    early_config.stash[SERVICES] = bundle

    var = directory / "var"
    var.mkdir(mode=0o700)
    os.environ.setdefault("PARLEY_VAR", str(var))
    os.environ.setdefault("PARLEY_SECRET_KEY", secrets.token_urlsafe(50))
    os.environ.setdefault("PARLEY_ENGINE_URL", _NO_ENGINE)
    return (yield)
