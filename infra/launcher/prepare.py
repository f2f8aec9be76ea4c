"""Migrations, static files, demo organization: one Django process instead of three.

Run as `python -m infra.launcher.prepare [POOLS_FILE | MODEL=PRICE]…` with the product's
environment: models that come later have their prices from the beginning, by a pools file or of
input alone.
"""

import gc
import hashlib
import os
import sys
from pathlib import Path

from infra.launcher.procfile import ROOT


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
    gc.disable()  # what is imported stays: to look through it is a quarter of a migration
    import django
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)  # and so do the models that migrations make anew, for long
    gc.enable()
    call_command("migrate", interactive=False, verbosity=0)
    collect_static(Path(settings.STATIC_ROOT))
    prices = [argument for argument in sys.argv[1:] if "=" in argument]
    later = [argument for argument in sys.argv[1:] if "=" not in argument]
    call_command("seed_demo", later=later, price=prices)
    return 0


def collect_static(target: Path) -> None:
    """Collect and compress the static files, when they are not those of the last time."""
    from django.core.management import call_command

    stamp = target / ".sources.sha256"
    digest = _static_digest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(digest)


def _static_digest() -> str:
    """Of our own static files as they lie there, and of the packages that bring the rest."""
    digest = hashlib.sha256((ROOT / "constraints.txt").read_bytes())
    for path in sorted((ROOT / "backend" / "static").rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(ROOT)} {path.stat().st_mtime_ns}\n".encode())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
