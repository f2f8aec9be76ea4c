"""No change of a model is without its migration."""

import subprocess
import sys

from infra.launcher.procfile import ROOT


def test_migrations_are_complete(services: None) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "with-services", "makemigrations", "--check", "--dry-run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
