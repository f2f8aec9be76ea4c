"""Drains an engine and waits for it: `python -m inference.drain --url http://127.0.0.1:8001`.

What stops engines runs this before SIGTERM: from then on the engine refuses new work and says so
in the registry, and what it has begun is finished. Needs nothing but Python, so that it starts at
once in a pod that is about to end.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from urllib.request import ProxyHandler, Request, build_opener

from inference.config import KEY_VARIABLE

_POLL_S = 0.5
_ANSWER_TIMEOUT_S = 5.0
_OPENER = build_opener(ProxyHandler({}))  # an engine is reached directly


def drain(url: str, key: str, *, timeout_s: float) -> int:
    """Have the engine at `url` refuse new work, and wait until it has finished what it had.

    An engine that misses an answer, being busy, is asked again.

    Args:
        key: that the engine asks for; "" where it asks for none.
    Returns:
        How many requests still ran after `timeout_s`, 0 where all had ended.
    Raises:
        OSError: the engine did not answer within `timeout_s`, or refused the key.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        failed: OSError | None = None
        in_flight = 0
        try:
            in_flight = _ask(url, key)
        except TimeoutError as error:
            failed = error
        if failed is None and in_flight == 0:
            return 0
        if time.monotonic() + _POLL_S > deadline:
            if failed is not None:
                raise failed
            return in_flight
        time.sleep(_POLL_S)


def _ask(url: str, key: str) -> int:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = Request(f"{url}/drain", method="POST", headers=headers)  # noqa: S310
    with _OPENER.open(request, timeout=_ANSWER_TIMEOUT_S) as response:
        return int(json.load(response)["in_flight"])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m inference.drain", description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8001", help="of the engine")
    parser.add_argument("--timeout", type=float, default=540.0, help="seconds to wait for answers")
    args = parser.parse_args(argv)
    try:
        left = drain(args.url, os.environ.get(KEY_VARIABLE, ""), timeout_s=args.timeout)
    except OSError as error:
        sys.stderr.write(f"{args.url} could not be drained: {error}\n")
        return 1
    if left:
        sys.stderr.write(f"{left} requests still ran after {args.timeout:g} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
