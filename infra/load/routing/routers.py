"""Routers that others have written, each as its own program before the same engines.

`make bench-routers` installs them, pinned, in an environment of their own (routers.txt).
"""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.load.routing.engines import wait_for
from infra.services.ports import free_port
from infra.services.process import end_tree

PYTHON = Path("var/bench/routers/bin/python")
_READY_S = 60.0


@dataclass(frozen=True, slots=True)
class Router:
    """`module` with `arguments`; it routes once `ready_path` is answered with 200."""

    module: str
    arguments: tuple[str, ...]
    ready_path: str = "/readiness"


_SGLANG = "sglang_router.launch_router"
_VLLM = "vllm_router.launch_router"
# Both routers begin to weigh load when one engine has 64 requests more than another, which four
# engines of one thread never have: "balanced" lowers that to what they can bear.
_BALANCED = ("--balance-abs-threshold", "2", "--balance-rel-threshold", "1.5")
_CACHE_AWARE = ("--policy", "cache_aware")
ROUTERS = {
    "sglang-router cache_aware": Router(_SGLANG, _CACHE_AWARE),
    "sglang-router cache_aware, balanced": Router(_SGLANG, (*_CACHE_AWARE, *_BALANCED)),
    "vllm-router cache_aware": Router(_VLLM, _CACHE_AWARE),
    "vllm-router cache_aware, balanced": Router(_VLLM, (*_CACHE_AWARE, *_BALANCED)),
    "vllm-router consistent_hash": Router(_VLLM, ("--policy", "consistent_hash")),
}
HOP = Router(_SGLANG, ("--policy", "round_robin"))
"""Before one engine it only passes on: what being a program in between costs."""


@contextmanager
def started(router: Router, engines: Sequence[str], log: Path) -> Iterator[str]:
    """Its address, when it knows all engines."""
    port = free_port()
    command = [
        *(str(PYTHON), "-m", router.module, "--host", "127.0.0.1", "--port", str(port)),
        *("--prometheus-port", str(free_port()), "--prometheus-host", "127.0.0.1"),
        *("--worker-startup-check-interval", "1", *router.arguments),
        *("--worker-urls", *engines),
    ]
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}{router.ready_path}", _READY_S)
        yield url
    finally:
        end_tree(process.pid)
        process.wait()
