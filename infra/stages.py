"""The stages of `make test`: run side by side, and a test that failed tried once more, alone.

A second try comes when all stages have ended and the machine is at rest, since what fails beside
other work mostly waited too short for it. Why the first failed has been printed; the test is named
at the end. See docs/decisions/0321.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

import pytest

from infra.launcher.procfile import ROOT

# More than these in a stage are no accident.
MAX_SECOND_TRIES = 3
# A service that runs checks shows the end of a long log, and what a dying thread still has to say
# comes after pytest's summary: the lines that name a failure are kept beside the last ones.
_LAST_LINES = 6
_NAMES_A_FAILURE = ("FAILED ", "ERROR ")
_terminal = threading.Lock()
# Linux shares the processors out among sessions: in one with the other stages, a stage gets a
# fraction of what each web process of a product has (man sched, "The autogroup feature").
_GOES_FIRST = "-10"
_sessions: set[int] = set()


@dataclass(frozen=True, slots=True)
class Stage:
    """One check: a title, a command, where it runs, whether it mostly waits, whether it has the
    processor before others; of pytest's, the folder of its cache, which names the tests that
    failed."""

    title: str
    command: Sequence[str]
    directory: Path = ROOT
    waits: bool = False
    goes_first: bool = False
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class StageResult:
    """How a stage ended, after how many seconds, and how many of processor time its processes took;
    what named a failure, and its last lines; the tests that passed at a second try.

    Of processor time only that is known of which somebody waited for the end: a process that
    another took over, or killed without waiting, is not in it.
    """

    stage: Stage
    exit_code: int
    seconds: float
    processor_s: float
    last_words: tuple[str, ...]
    second_tries: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.exit_code == 0

    def __str__(self) -> str:
        passed = "✓" if self.passed else "✗"
        return (
            f"  {passed} {self.seconds:7.1f} s {self.processor_s:7.1f} s of a processor  "
            f"{self.stage.title}"
        )


class Threads:
    """The threads that stages run in, for the time of a `with`: some for those that compute, and
    one for each that waits."""

    def __init__(self, computing: int) -> None:
        self._computing = ThreadPoolExecutor(computing)
        self._waiting = ThreadPoolExecutor()

    def __enter__(self) -> "Threads":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is KeyboardInterrupt:
            # The terminal has told the stages of our session.
            for pid in _sessions:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGINT)
        self._computing.shutdown()
        self._waiting.shutdown()

    def begin(
        self, stages: Sequence[Stage], environment: dict[str, str]
    ) -> list[Future[StageResult]]:
        """Have `stages` run in their order, each when a thread is free."""
        return [
            (self._waiting if stage.waits else self._computing).submit(
                run_stage, stage, environment
            )
            for stage in stages
        ]


def run_stage(stage: Stage, environment: dict[str, str]) -> StageResult:
    """Run one stage; each line of what it prints begins with its title."""
    if stage.cache is not None:
        shutil.rmtree(stage.cache, ignore_errors=True)
    return _run(stage, environment)


def with_second_try(result: StageResult, environment: dict[str, str]) -> StageResult:
    """What came of the stage when the few tests that failed in it were run once more; the same
    where it passed, where too many failed, or where it ended for another reason."""
    failed = _failed_tests(result)
    if not 0 < len(failed) <= MAX_SECOND_TRIES:
        return result
    stage = result.stage
    command = (*stage.command, "--last-failed", "--last-failed-no-failures=none")
    again = _run(replace(stage, title=f"{stage.title} again", command=command), environment)
    return replace(
        again,
        stage=stage,
        seconds=result.seconds + again.seconds,
        processor_s=result.processor_s + again.processor_s,
        second_tries=failed if again.passed else (),
    )


def summary(outcomes: Sequence[StageResult]) -> int:
    """Print a table of all stages' times, the tests that needed a second try, and what the stages
    that failed said last; the exit code."""
    failed = [outcome for outcome in outcomes if not outcome.passed]
    last_words = [_line(outcome.stage, line) for outcome in failed for line in outcome.last_words]
    second = [
        _line(outcome.stage, f"SECOND TRY {test}")
        for outcome in outcomes
        for test in outcome.second_tries
    ]
    print("", *outcomes, *second, *last_words, sep="\n", flush=True)
    return 1 if failed else 0


def _failed_tests(result: StageResult) -> tuple[str, ...]:
    """By their names for pytest; none where it did not end because tests failed."""
    if result.stage.cache is None or result.exit_code != pytest.ExitCode.TESTS_FAILED:
        return ()
    names = result.stage.cache / "v" / "cache" / "lastfailed"
    # A run that hung is ended by pytest-timeout with the same code, and writes none.
    return tuple(json.loads(names.read_text())) if names.exists() else ()


def _run(stage: Stage, environment: dict[str, str]) -> StageResult:
    started = time.monotonic()
    last_words: deque[str] = deque(maxlen=_LAST_LINES)
    named: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        stage.command,
        cwd=stage.directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=stage.goes_first,
    ) as process:
        assert process.stdout is not None
        if stage.goes_first:
            _let_go_first(process.pid)
        for line in process.stdout:
            last_words.append(line.rstrip())
            if line.startswith(_NAMES_A_FAILURE):
                named.append(last_words[-1])
            _say(_line(stage, last_words[-1]))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        _sessions.discard(process.pid)
    earlier = [line for line in named if line not in last_words]
    seconds = time.monotonic() - started
    processor_s = usage.ru_utime + usage.ru_stime
    words = (*earlier, *last_words)
    outcome = StageResult(stage, process.returncode, seconds, processor_s, words)
    _say(str(outcome))
    return outcome


def _let_go_first(session: int) -> None:
    """Only the superuser may; elsewhere it has as much as any other session."""
    _sessions.add(session)
    with contextlib.suppress(OSError):
        Path(f"/proc/{session}/autogroup").write_text(_GOES_FIRST)


def _line(stage: Stage, text: str) -> str:
    return f"{stage.title:>15} │ {text}"


def _say(line: str) -> None:
    with _terminal:
        print(line, flush=True)
