"""The services of a test run are started by the first test that needs them, and by no other."""

import os
import subprocess
import sys

from infra.launcher.procfile import ROOT
from infra.services.bundle import SERVICE_VARIABLES


def run_of(*arguments: str) -> str:
    """The last line of a run of pytest without services from outside."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", *arguments]
    # Without the URLs of the run that this test belongs to.
    own = {name: value for name, value in os.environ.items() if name not in SERVICE_VARIABLES}
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    return next(line for line in done.stdout.splitlines() if line.startswith("services: "))


def test_engine_test_starts_no_service() -> None:
    assert run_of("tests/inference/test_prefill_budget.py") == "services: none needed"


def test_price_arithmetic_starts_no_service() -> None:
    assert run_of("tests/billing/test_prices_properties.py") == "services: none needed"


def test_database_test_starts_services() -> None:
    one_test = ("tests/accounts/test_members.py", "-k", "unknown_role_is_refused")
    assert run_of(*one_test) == "services: started"
