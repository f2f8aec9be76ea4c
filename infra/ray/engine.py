"""One engine process of a Ray actor: started so that it cannot outlive the actor, watched for
progress, and drained before it ends.

The kernel kills the process when the thread that started it dies (PR_SET_PDEATHSIG), and the
engine's core ends with its server: however an actor ends, no orphan keeps a GPU. What is asked for
health is whether anything moves (decision 0190): the engine watches its own core and restarts it;
here its server is watched, which answers, or at least computes.
"""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from inference.config import MAX_LOAD_SILENCE_S
from inference.drain import drain
from inference.engine.activity import Activity, activity_of
from infra.services.process import die_with_parent, end_tree

log = logging.getLogger(__name__)

MAX_SILENCE_S = 5.0
"""Without an answer and without having run: the server has frozen."""
MAX_UNANSWERED_S = 30.0
"""Without an answer, though it computes: its event loop is stuck."""
NO_ANSWER = 0
"""In place of a status: it took the connection and answered nothing."""
_WATCH_INTERVAL_S = 0.5
_PROBE_TIMEOUT_S = 1.0
_STOP_GRACE_S = 45.0
"""An engine that is told to end gives what runs 30 s, and then its core 10 s."""
_OPENER = build_opener(ProxyHandler({}))  # engines are reached directly
_REQUESTS = re.compile(r"^vllm:num_requests_(?:running|waiting){[^}]*} (\S+)$", re.MULTILINE)
_ROOT = Path(__file__).resolve().parents[2]


class EngineFailedError(RuntimeError):
    """The engine did not start."""


class EngineProcess:
    """`python -m inference serve` with `arguments`.

    Args:
        url: where it listens; "" for a rank that serves nothing.
        key: that the engine asks for.
        other_failure: why something that it needs has failed, "" while nothing has.
        can_restart: whether its core can come back by itself. One of several ranks cannot: the
            others end with it.
        max_load_silence_s: so long may it not run, until it listens.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        url: str = "",
        key: str,
        other_failure: Callable[[], str] = lambda: "",
        can_restart: bool = True,
        max_load_silence_s: float = MAX_LOAD_SILENCE_S,
    ) -> None:
        self._command = [sys.executable, "-m", "inference", "serve", *arguments]
        self._environment = {**environment, "PARLEY_ENGINE_API_KEY": key}
        self._url = url
        self._key = key
        self._other_failure = other_failure
        self._can_restart = can_restart
        self._max_load_silence_s = max_load_silence_s
        self._process: subprocess.Popen[bytes] | None = None
        self._failure = ""
        self._ending = threading.Event()
        # Lives as long as the process: the kernel kills that with the thread that started it.
        self._keeper: threading.Thread | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the engine has not been started"
        return self._process.pid

    @property
    def failure(self) -> str:
        """Why it serves no longer, "" while it does. What has failed has been killed."""
        return self._failure

    def wait(self) -> str:
        """Wait until the process is gone; why, "" where it was told to end."""
        if self._keeper is not None:
            self._keeper.join()
        return self._failure

    def start(self, timeout_s: float) -> None:
        """Start it, and wait until it takes work; a rank that serves nothing is not waited for.

        Args:
            timeout_s: to load its weights, now and whenever its core starts again.
        Raises:
            EngineFailedError: it ended, or was not ready in time. Nothing of it is left then.
        """
        started: Future[None] = Future()
        self._keeper = threading.Thread(
            target=self._keep, args=(started, timeout_s), name="engine", daemon=True
        )
        self._keeper.start()
        started.result()
        deadline = time.monotonic() + timeout_s
        while self._url and not self._failure and not self._is_ready():
            if time.monotonic() > deadline:
                self.kill()
                raise EngineFailedError(f"the engine was not ready after {timeout_s:g} s")
            time.sleep(0.1)
        if self._failure:
            raise EngineFailedError(f"{self._failure}; its log says why")

    def requests(self) -> int | None:
        """How many it runs and lets wait now; None where it does not tell."""
        try:
            return sum(int(float(count)) for count in _REQUESTS.findall(self._ask("/metrics")[1]))
        except (OSError, HTTPException):
            return None

    def drain(self, timeout_s: float) -> int:
        """Take no new work, wait for what runs, and end. Returns how many requests still ran."""
        left = 0
        try:
            if self._url and not self._failure:
                left = drain(self._url, self._key, timeout_s=timeout_s)
        except OSError as error:
            log.warning("the engine could not be drained: %s", error)
        self._end(signal.SIGTERM)
        return left

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        self._ending.set()
        if self._process is not None:
            if self._process.poll() is None:  # its number may be another process's by now
                end_tree(self._process.pid, stop_signal=how, grace=_STOP_GRACE_S)
            self._process.wait()
        if self._keeper is not None:
            self._keeper.join()

    def _keep(self, started: Future[None], timeout_s: float) -> None:
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                env=self._environment,
                cwd=_ROOT,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGKILL),  # noqa: PLW1509 - see module docstring
            )
        except (OSError, subprocess.SubprocessError) as error:
            started.set_exception(error)
            return
        started.set_result(None)
        failure = self._watch(self._process, timeout_s)
        if failure:
            log.error("%s", failure)
            self._failure = failure
            end_tree(self._process.pid, stop_signal=signal.SIGKILL)
        self._process.wait()

    def _watch(self, process: subprocess.Popen[bytes], timeout_s: float) -> str:
        """Return why the engine has failed, "" when it is told to end."""
        max_down_s = timeout_s if self._can_restart else 0.0
        signs = SignsOfLife(max_down_s, self._max_load_silence_s)
        before = time.monotonic()
        while not self._ending.wait(_WATCH_INTERVAL_S):
            if (code := process.poll()) is not None:
                return f"the engine ended with exit code {code}"
            if failure := self._other_failure():
                return failure
            status = self._status("/health") if self._url else HTTPStatus.OK
            now = time.monotonic()
            failure = signs.seen(now - before, status, activity_of(process.pid))
            before = now
            if failure:
                return failure
        return ""

    def _is_ready(self) -> bool:
        return self._status("/ready") == HTTPStatus.OK

    def _status(self, path: str) -> int | None:
        """NO_ANSWER where it listens and keeps silent, None where it cannot be reached."""
        try:
            return self._ask(path)[0]
        except HTTPError as error:
            return error.code
        except TimeoutError:  # of the answer; that of the connection is a URLError
            return NO_ANSWER
        except (OSError, HTTPException):
            return None

    def _ask(self, path: str) -> tuple[int, str]:
        """Status and text. Raises OSError, HTTPException."""
        headers = {"Authorization": f"Bearer {self._key}"}
        request = Request(f"{self._url}{path}", headers=headers)  # noqa: S310 our own engine
        with _OPENER.open(request, timeout=_PROBE_TIMEOUT_S) as response:
            return response.status, response.read().decode()


class SignsOfLife:
    """What is seen of one server, twice a second. It listens when its model is loaded, and may
    freeze before that, or before it has answered once.

    Args:
        max_down_s: how long its core may be away.
        max_load_silence_s: how long it may not run while it loads. It looks after its core
            meanwhile, twice a second.

    Time counts only as far as whoever looks was not held up itself: a machine that slept says
    nothing about the engine.
    """

    def __init__(self, max_down_s: float, max_load_silence_s: float) -> None:
        self._max_down_s = max_down_s
        self._max_load_silence_s = max_load_silence_s
        self._unanswered_s = 0.0
        self._silent_s = 0.0
        self._down_s = 0.0
        self._seen: Activity | None = None
        self._listens = False

    def seen(self, passed_s: float, status: int | None, activity: Activity | None) -> str:
        """Take one look into account; returns why the engine has failed, "" while it has not.

        Args:
            passed_s: since the look before.
            status: of `/health`, or NO_ANSWER; None where it could not be reached.
            activity: of the server; None where it is gone.
        """
        moves = activity is not None and activity != self._seen
        self._seen = activity
        counted = min(passed_s, _PROBE_TIMEOUT_S + 2 * _WATCH_INTERVAL_S)
        if status is not None and not self._listens:
            self._listens, self._silent_s = True, 0.0
        answered, up = bool(status), status == HTTPStatus.OK
        self._silent_s = 0.0 if answered or moves else self._silent_s + counted
        if not self._listens:
            if self._silent_s > self._max_load_silence_s:
                return f"the engine froze while it loaded: not run for {self._silent_s:.0f} s"
            return ""
        self._unanswered_s = 0.0 if answered else self._unanswered_s + counted
        self._down_s = 0.0 if up or not answered else self._down_s + counted
        if self._silent_s > MAX_SILENCE_S:
            return f"the engine has neither answered nor computed for {self._silent_s:.0f} s"
        if self._unanswered_s > MAX_UNANSWERED_S:
            return f"the engine has not answered for {self._unanswered_s:.0f} s"
        if self._down_s > self._max_down_s:
            return f"the engine's core has been away for {self._down_s:.0f} s"
        return ""
