#!/usr/bin/env python
"""Django's command line, and commands of our own that need no Django.

`up` starts the whole product (`make run`), `with-services` runs one command with throw-away
services, `dump` and `restore` back up the database. Django's own commands may be written with
hyphens: `rotate-keys` is `rotate_keys`. All but `up` and `with-services` find the
services of a running product by themselves.
"""

import gc
import os
import sys


def main() -> int:
    command, arguments = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if command == "up":
        from infra.launcher import up

        return up.main(arguments)
    if command == "with-services":
        from infra.launcher import with_services

        return with_services.main(arguments)

    from infra.launcher.environment import adopt_running

    adopt_running(os.environ)
    if command in {"dump", "restore"}:
        from infra.launcher import backup

        return backup.main(command, arguments)

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
    # What is imported stays: Python's usual 700 look through it so often that a migration takes a
    # quarter longer.
    gc.set_threshold(50_000, 10, 10)
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        name = [] if not command else [command if command[0] == "-" else command.replace("-", "_")]
        execute_from_command_line([sys.argv[0], *name, *arguments])
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
