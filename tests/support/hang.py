"""What a test waited for when its time was over: the stack of a thread shows only that its event
loop waits, so the tasks of that loop are shown with it."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer() -> Iterator[None]:
    """pytest-timeout has set its handler: ours comes before it."""
    result: Any = yield
    ends = signal.getsignal(signal.SIGALRM)
    if callable(ends):

        def show(number: int, frame: FrameType | None) -> None:
            sys.stderr.write(waiting_tasks())
            ends(number, frame)

        signal.signal(signal.SIGALRM, show)
    return result


def waiting_tasks() -> str:
    """A paragraph for each task of the running loop, from its coroutine to where it waits; empty
    where no loop runs."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return ""
    paragraphs = []
    for task in sorted(tasks, key=asyncio.Task.get_name):
        cancelled = f", cancelled {task.cancelling()} times" if task.cancelling() else ""
        lines = [f"Task {task.get_name()}{cancelled}", *_frames(task.get_coro())]
        paragraphs.append("\n    ".join(lines))
    return "\n" + "\n".join(paragraphs) + "\n"


def _frames(waiting: Any) -> Iterator[str]:
    """Of a coroutine, and of what it waits for, and so on."""
    while waiting is not None:
        frame = _first(waiting, "cr_frame", "gi_frame", "ag_frame")
        if frame is not None:
            code = frame.f_code
            yield f"{code.co_filename}:{frame.f_lineno} {code.co_qualname}"
        elif not hasattr(waiting, "cr_await"):
            yield repr(waiting)
        waiting = _first(waiting, "cr_await", "gi_yieldfrom", "ag_await")


def _first(of: Any, *names: str) -> Any:
    return next((value for name in names if (value := getattr(of, name, None)) is not None), None)
