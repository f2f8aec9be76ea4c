"""`manage.py dump FILE` and `manage.py restore FILE`: a logical backup of the database.

For the embedded database above all: the wheel brings `pg_dump` of the server's own version,
where the machine's may be older. Works for a configured DATABASE_URL just the same.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from infra.services.errors import BinaryMissingError
from infra.services.postgres import find_programs

_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
}


def main(command: str, arguments: list[str]) -> int:
    """Run the command; its exit code."""
    if len(arguments) != 1:
        print(f"Usage: manage.py {command} FILE", file=sys.stderr)
        return 2
    url = os.environ.get("DATABASE_DIRECT_URL") or os.environ.get("DATABASE_URL")
    if not url:
        print(
            "There is no database: start the product with `make run`, or set DATABASE_URL.",
            file=sys.stderr,
        )
        return 1
    try:
        programs = find_programs()
    except BinaryMissingError as error:
        print(error, file=sys.stderr)
        return 1
    return (
        dump(programs, url, Path(arguments[0]))
        if command == "dump"
        else restore(programs, url, Path(arguments[0]))
    )


def dump(programs: Path, url: str, target: Path) -> int:
    """Write the whole database to `target`, readable by its owner only."""
    target.touch(mode=0o600)
    return _run([programs / "pg_dump", "--format=custom", "--no-owner", f"--file={target}"], url)


def restore(programs: Path, url: str, source: Path) -> int:
    """Make the database what `source` holds, in one transaction: all of it or nothing."""
    return _run(
        [
            *(programs / "pg_restore", "--clean", "--if-exists", "--no-owner"),
            *("--single-transaction", "--exit-on-error"),
            *(f"--dbname={conninfo_to_dict(url)['dbname']}", source),
        ],
        url,
    )


def _run(command: list[str | Path], url: str) -> int:
    """The password goes by the environment: a command line is everybody's to read."""
    return subprocess.run(
        [str(part) for part in command], env={**os.environ, **_connection(url)}, check=False
    ).returncode


def _connection(url: str) -> Mapping[str, str]:
    parts = conninfo_to_dict(url)
    return {_VARIABLES[name]: str(value) for name, value in parts.items() if name in _VARIABLES}
