"""`python -m infra.load.files`: how many of our files one prompt on the page runs through.

Counted are the files of `backend`, `billing`, `safety` and `inference` in which a function is
called between the question and some seconds after the answer's last event, in each process: web,
engine, relay and aggregator. What these run while nothing is asked is counted before, for as long.
"""

import argparse
import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import httpx

from infra.launcher import procfile
from infra.launcher.probe import read_demo_login
from infra.load import called_files
from infra.load.engine import start
from infra.load.stack import MODEL, Stack
from infra.services.ports import free_port
from infra.services.process import end_tree

_IDLE, _TURN = 1, 2
_AFTERWARDS_S = 5.0
"""Until the usage event of the answer has been aggregated."""


class Epochs:
    """What the processes noted, by epoch."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        (directory / called_files.EPOCH).write_bytes(b"\0")

    def begin(self, epoch: int) -> None:
        with (self._directory / called_files.EPOCH).open("r+b") as file:
            file.write(bytes([epoch]))

    def files(self) -> dict[str, dict[int, set[str]]]:
        """By process, then by epoch."""
        found: dict[str, dict[int, set[str]]] = {}
        for path in self._directory.glob("*.[0-9]*"):
            by_epoch = found.setdefault(path.stem, defaultdict(set))
            for line in path.read_text().splitlines():
                epoch, name = line.split("\t")
                by_epoch[int(epoch)].add(name)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the files too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        found = _measure(directory)
    _print(found, names=arguments.list)


def _measure(directory: Path) -> dict[str, dict[int, set[str]]]:
    notes = directory / "notes"
    notes.mkdir()
    epochs = Epochs(notes)
    hook = f"from infra.load.called_files import install, Path\ninstall(Path({str(notes)!r}))\n"
    (notes / "sitecustomize.py").write_text(hook)
    os.environ.update(PYTHONPATH=f"{notes}:{procfile.ROOT}")
    port = free_port()
    engine = start(directory, port)
    try:
        url = f"http://127.0.0.1:{port}"
        with Stack(directory, rate=0.0, settings={}, upstream_url=url) as stack:
            for process in ("relay", "aggregator"):
                stack.start_process(process)
            with httpx.Client(base_url=stack.web_url, timeout=120) as page:
                _sign_in(page, directory / "var")
                _turn(page)  # connections are made, caches filled
                time.sleep(_AFTERWARDS_S)
                epochs.begin(_IDLE)
                time.sleep(_AFTERWARDS_S)
                epochs.begin(_TURN)
                _turn(page)
                time.sleep(_AFTERWARDS_S)
                epochs.begin(0)
    finally:
        end_tree(engine.pid)
        engine.wait()
    return epochs.files()


def _sign_in(page: httpx.Client, var: Path) -> None:
    login = read_demo_login(var)
    page.get("/").raise_for_status()
    _post(page, "/api/auth/login", {"email": login.email, "password": login.password})


def _turn(page: httpx.Client) -> None:
    """A question in a new conversation, and its answer to the end."""
    conversation = _post(page, "/api/conversations", {"model": MODEL}).json()["id"]
    path = f"/api/conversations/{conversation}/messages"
    answer = _post(page, path, {"content": "What is a lamp?"})
    if "[DONE]" not in answer.text:
        raise RuntimeError(f"the answer did not end: {answer.text[-300:]}")


def _post(page: httpx.Client, path: str, body: dict[str, object]) -> httpx.Response:
    token = next(c.value for c in page.cookies.jar if c.name.endswith("csrftoken"))
    answer = page.post(path, json=body, headers={"X-CSRFToken": token or ""})
    return answer.raise_for_status()


def _print(found: dict[str, dict[int, set[str]]], *, names: bool) -> None:
    print("| process | files in a turn | of them without one |\n|---|--:|--:|")
    for process, files in sorted(found.items(), key=lambda one: -len(one[1][_TURN])):
        print(f"| {process} | {len(files[_TURN])} | {len(files[_TURN] & files[_IDLE])} |")
    turn, idle = (set().union(*(one[epoch] for one in found.values())) for epoch in (_TURN, _IDLE))
    print(f"| **all** | **{len(turn)}** | **{len(turn & idle)}** |")
    if names:
        print(
            "", *(f"{'idle' if name in idle else '':4} {name}" for name in sorted(turn)), sep="\n"
        )


if __name__ == "__main__":
    main()
