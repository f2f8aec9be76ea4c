#!/usr/bin/env python
"""Django's command line, and `up`, which starts the whole product (`make run`).

`up` and `with-services` come before Django is set up: they start the services that the
settings need. Every other command finds the services of a running product by itself.
"""

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
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
