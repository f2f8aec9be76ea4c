"""Migrations, static files, demo organization: one Django process instead of three.

Run as `python -m infra.launcher.prepare` with the product's environment.
"""

import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    call_command("seed_demo")
    return 0


if __name__ == "__main__":
    sys.exit(main())
