"""The services of a test run are started by tests that need them, and by no other."""

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


def test_arithmetic_starts_no_service() -> None:
    """Of the engine's waiting line, without the two seconds that torch takes to be imported."""
    line = "tests/infra/simulator/test_ordered_queue.py"
    price = "test_usage_without_a_price_is_named_and_not_free"
    prices = f"tests/billing/test_prices_properties.py::{price}"
    assert run_of(line, prices) == "services: none needed"
