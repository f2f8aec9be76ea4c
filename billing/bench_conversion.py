"""A conversion of `manage.py` as a process of its own, beside writers: for benchmarks.

The process can be killed at a step and begun again; its memory is watched at each step. A table is
filled without its indexes, which are built when it is full: tens of millions of random ids one by
one would take most of a run.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psutil
from django.db import connection
from psycopg import sql

_KEYS = (
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE conrelid = %s::regclass AND contype IN ('p', 'u')"
)
_INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s"


@contextmanager
def built_when_filled(table: str) -> Iterator[None]:
    """Takes the table's keys and indexes away, and builds them again where the block ends."""
    with connection.cursor() as cursor:
        cursor.execute(_KEYS, [table])
        keys = dict(cursor.fetchall())
        cursor.execute(_INDEXES, [table])
        indexes = {name: made_by for name, made_by in cursor.fetchall() if name not in keys}
        for name in keys:
            cursor.execute(_in_table("ALTER TABLE {} DROP CONSTRAINT {}", table, name))
        for name in indexes:
            cursor.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
        yield
        cursor.execute("SET maintenance_work_mem = '256MB'")
        for made_by in indexes.values():
            cursor.execute(made_by)
        for name, made_by in keys.items():
            statement = _in_table("ALTER TABLE {} ADD CONSTRAINT {} ", table, name)
            cursor.execute(statement + sql.SQL(made_by))
        cursor.execute("RESET maintenance_work_mem")


def _in_table(statement: LiteralString, table: str, name: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(table), sql.Identifier(name))


class Conversion:
    """`manage.py COMMAND` on the benchmark's database."""

    def __init__(self, command: str) -> None:
        settings = connection.settings_dict
        url = (
            f"postgresql://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}"
            f":{settings['PORT']}/{settings['NAME']}"
        )
        self.lines: list[str] = []
        self.peak = 0
        self._process = psutil.Popen(
            [sys.executable, "manage.py", command],
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "DATABASE_URL": url, "DATABASE_DIRECT_URL": ""},
            stdout=subprocess.PIPE,
            text=True,
        )

    def until(self, step: str | None) -> None:
        """Wait for a step, or for the end. Raises RuntimeError where it fails."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.strip())
            with_peak = Path(f"/proc/{self._process.pid}/status").read_text()
            self.peak = int(with_peak.split("VmHWM:")[1].split()[0]) * 1024
            if step is not None and line.split()[-1] == step:
                return
        if self._process.wait() != 0:
            raise RuntimeError(f"the conversion failed: {self.lines}")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Writer:
    """Calls `write` again and again in a thread, and times it.

    Args:
        write: writes something, and gives how many rows of it are new. What it raises ends the
            thread and is raised again where the block ends.
    """

    def __init__(self, write: Callable[[], int], pause_s: float = 0.01) -> None:
        self.stored = 0
        self.took_s: list[float] = []
        self._write, self._pause_s = write, pause_s
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                begun = time.perf_counter()
                self.stored += self._write()
                self.took_s.append(time.perf_counter() - begun)
                time.sleep(self._pause_s)
        except Exception as error:
            self._error = error
        finally:
            connection.close()

    def latencies(self) -> str:
        """Median, 99th percentile and slowest so far, in milliseconds."""
        took = sorted(1000 * each for each in self.took_s)
        p99 = took[min(len(took) - 1, int(len(took) * 0.99))]
        return (
            f"median {statistics.median(took):.1f} ms, p99 {p99:.0f} ms, slowest {took[-1]:.0f} ms"
        )

    def __enter__(self) -> "Writer":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
