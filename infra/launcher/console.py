"""What a person sees: one line for each step with its time, then the prefixed logs."""

import contextlib
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

# Readable on dark and light terminals alike; red is kept for the launcher's own failures.
_COLOURS = {"cyan": 36, "green": 32, "yellow": 33, "magenta": 35, "blue": 34, "red": 31, "bold": 1}
PROCESS_COLOURS = ("cyan", "green", "magenta", "blue", "yellow")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_TICK_SECONDS = 10.0


class Console:
    """Prints whole lines from several threads without mixing them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._coloured = sys.stdout.isatty()

    def paint(self, text: str, colour: str) -> str:
        return f"\033[{_COLOURS[colour]}m{text}\033[0m" if self._coloured else text

    def line(self, text: str = "") -> None:
        """Print a line. A terminal that was closed is no reason to stop: nobody reads it."""
        with self._lock, contextlib.suppress(OSError):
            print(text, flush=True)

    def log(self, name: str, text: str, *, colour: str, width: int) -> None:
        """One line of a process's log, with the time and its name before it."""
        if not self._coloured:
            text = _ANSI.sub("", text)
        prefix = self.paint(f"{datetime.now():%H:%M:%S} {name:<{width}} |", colour)
        self.line(f"{prefix} {text}")

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Say what is being done, that it is still being done, and how long it took."""
        started = time.monotonic()
        done = threading.Event()

        def tick() -> None:
            while not done.wait(_TICK_SECONDS):
                self.line(f"    … {title}, {time.monotonic() - started:.0f} s so far")

        self.line(f"  → {title}")
        ticker = threading.Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        except BaseException:
            self.line(self.paint(f"  ✗ {title}", "red"))
            raise
        finally:
            done.set()
        elapsed = time.monotonic() - started
        self.line(self.paint("  ✓ ", "green") + f"{title} ({elapsed:.1f} s)")
