"""`manage.py with-services COMMAND …`: one management command with throw-away services.

For commands that need the settings but no running product, for example
`manage.py with-services makemigrations --check`.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from infra.launcher.procfile import ROOT
from infra.services.bundle import ServiceBundle
from infra.services.errors import ServiceError


def main(arguments: list[str]) -> int:
    """Run the command; its exit code."""
    directory = Path(tempfile.mkdtemp(prefix="parley-"))
    directory.chmod(0o711)  # the database's unprivileged account must be able to pass
    bundle = ServiceBundle(directory / "services", os.environ, throw_away=True)
    try:
        variables = {
            "PARLEY_KEYS": f"1:{secrets.token_urlsafe(32)}",
            "PARLEY_VAR": str(directory / "var"),
            **os.environ,
            **bundle.start(),
        }
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    except ServiceError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        bundle.destroy()
        shutil.rmtree(directory, ignore_errors=True)
