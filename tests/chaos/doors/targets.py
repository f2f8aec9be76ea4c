"""What can be killed or frozen of a product that `manage.py up` looks after."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import httpx
import psutil
import psycopg
import redis

from tests.support.launched import LaunchedProduct

_BACKGROUND = {
    "worker": "celery",
    "money": "money",
    "data": "data",
    "webhooks": "webhooks,mail",
    "beat": "beat",
    "relay": "relay",
    "aggregator": "aggregate",
    "detector": "detect_abuse",
}
_WEB_WORKERS = 2


@dataclass(frozen=True)
class Target:
    """A role in the product.

    Attributes:
        weight: how often it is chosen, beside the others: what starts quickly is hit more often.
        running: the processes that have this role now.
        works: whether one of them, which runs, does its work: it is not only being started.
        count: how many there are when all is well.
    """

    name: str
    weight: int
    running: Callable[[], Sequence[psutil.Process]]
    works: Callable[[psutil.Process], bool]
    count: int = 1

    def is_whole(self, without: frozenset[int] = frozenset()) -> bool:
        """Whether all its processes work, and none of `without` is among them."""
        alive = [one for one in self.running() if _moves(one)]
        if len(alive) != self.count or without & {one.pid for one in alive}:
            return False
        return all(self.works(one) for one in alive)


def targets_of(product: LaunchedProduct) -> list[Target]:
    """All roles of the product that the launcher, the engine or uvicorn brings back."""

    def service(name: str) -> Callable[[], list[psutil.Process]]:
        return lambda: _service(product, name)

    def child(*words: str) -> Callable[[], list[psutil.Process]]:
        return lambda: _children(product, words)

    environment = product.environment
    parent, server = child("uvicorn"), child("inference", "serve")

    def workers() -> list[psutil.Process]:
        return _below(parent(), "spawn_main")

    def has_workers(_: psutil.Process) -> bool:
        found = workers()
        return len(found) == _WEB_WORKERS and all(is_connected(one) for one in found)

    def answers(_: psutil.Process) -> bool:
        return is_ready(environment["PARLEY_ENGINE_URL"])

    return [
        Target("postgres", 12, service("postgres"), lambda _: asked(environment)),
        Target("valkey", 12, service("valkey"), lambda _: pinged(environment["REDIS_URL"])),
        Target("broker", 12, service("broker"), listens),
        Target("web worker", 10, workers, is_connected, _WEB_WORKERS),
        Target("web parent", 3, parent, has_workers),
        Target("engine core", 3, lambda: _below(server(), "inference.core_main"), answers),
        Target("engine server", 2, server, answers),
        *(Target(name, 4, child(*_words(name)), is_connected) for name in _BACKGROUND),
    ]


def is_connected(process: psutil.Process) -> bool:
    """It has imported what it needs, and speaks to PostgreSQL, Valkey or the broker."""
    return _has_connection(process, psutil.CONN_ESTABLISHED)


def listens(process: psutil.Process) -> bool:
    return _has_connection(process, psutil.CONN_LISTEN)


def _has_connection(process: psutil.Process, status: str) -> bool:
    try:
        return any(one.status == status for one in process.net_connections("tcp"))
    except psutil.NoSuchProcess:
        return False


def asked(environment: Mapping[str, str]) -> bool:
    try:
        with psycopg.connect(environment["DATABASE_URL"], connect_timeout=2) as connection:
            connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def pinged(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def _words(name: str) -> tuple[str, ...]:
    """Those of the command line that tell a background process from the others."""
    return ("worker", "titles,celery") if name == "worker" else (_BACKGROUND[name],)


def _service(product: LaunchedProduct, name: str) -> list[psutil.Process]:
    try:
        process = product.service(name)
        return [process] if process.is_running() else []
    except (psutil.NoSuchProcess, FileNotFoundError, ValueError):
        return []  # it is being started again


def _children(product: LaunchedProduct, words: Sequence[str]) -> list[psutil.Process]:
    """The launcher's own children whose command has these words, each so often."""
    found = []
    for process in psutil.Process(product.launcher.pid).children():
        arguments = [argument.rpartition("/")[2] for argument in _command(process)]
        if all(arguments.count(word) >= words.count(word) for word in words):
            found.append(process)
    return found


def _below(parents: Sequence[psutil.Process], word: str) -> list[psutil.Process]:
    """The children of `parents` whose command has this word in it."""
    found = []
    for parent in parents:
        with contextlib.suppress(psutil.NoSuchProcess):
            children = parent.children()
            found += [child for child in children if word in " ".join(_command(child))]
    return found


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def _moves(process: psutil.Process) -> bool:
    try:
        status = process.status()
    except psutil.NoSuchProcess:
        return False
    return status not in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
