"""Periodic tasks expire, never overlap themselves, and wait in the queue of their kind of work."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connections

from backend.celery import app
from backend.platform.periodic import periodic_task
from infra.launcher import procfile

app.loader.import_default_modules()
OURS = sorted(name for name in app.tasks if name.startswith(("backend.", "billing.", "safety.")))
SCHEDULE = settings.CELERY_BEAT_SCHEDULE


def queue_of(task: str) -> str:
    route = app.amqp.router.route({}, task)
    return str(getattr(route.get("queue"), "name", route.get("queue")))


def consumers() -> dict[str, str]:
    """The process of each queue."""
    found: dict[str, str] = {}
    for process, command in procfile.read().items():
        for queues in re.findall(r"--queues (\S+)", command):
            found |= dict.fromkeys(queues.split(","), process)
    return found


# --- The schedule ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEDULE)
def test_scheduled_task_expires_and_never_overlaps(name: str) -> None:
    entry = SCHEDULE[name]
    task: Any = app.tasks[entry["task"]]  # at_once is an option of ours
    assert 1 <= task.at_once <= 4
    interval = entry["schedule"] if isinstance(entry["schedule"], float) else 86400.0
    assert 0 < entry["options"]["expires"] <= interval


@pytest.mark.parametrize("task", OURS)
def test_task_waits_in_a_queue_of_its_kind(task: str) -> None:
    queue = queue_of(task)
    expected = {
        "billing": "webhooks" if task.endswith("deliver_webhooks") else "money",
        "safety": "data",
    }.get(task.split(".")[0], queue)
    assert queue == expected != "celery"
    assert queue in consumers()


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("backend.rights.tasks.run_exports", "data"),
        ("backend.rights.tasks.run_erasures", "data"),
        ("backend.conversations.tasks.purge_overdue", "data"),
        ("backend.conversations.tasks.title_create", "titles"),
        ("backend.accounts.tasks.mails_send_due", "mail"),
        ("billing.tasks.collect_invoices", "money"),
    ],
)
def test_kinds_of_work_have_their_queues(task: str, queue: str) -> None:
    assert task in OURS
    assert queue_of(task) == queue


def test_money_data_and_titles_have_processes_of_their_own() -> None:
    processes = consumers()
    assert len({processes[queue] for queue in ("money", "data", "titles", "mail")}) == 4
    assert processes["celery"] == processes["titles"]  # from before there were others


def test_unacknowledged_task_is_given_to_another_worker() -> None:
    assert settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"] == 3600


# --- A run -----------------------------------------------------------------------------------


class Held:
    """A task that runs until it is let go, in threads of its own."""

    def __init__(self, at_once: int) -> None:
        self.running = threading.Semaphore(0)
        self.done = threading.Event()
        self.task = periodic_task(at_once=at_once)(self._named(f"held_{at_once}_{id(self)}"))
        self.threads: list[threading.Thread] = []

    def _named(self, name: str):
        def hold() -> str:
            self.running.release()
            self.done.wait(60)
            return "ran"

        hold.__name__ = name
        return hold

    def start(self) -> None:
        def work() -> None:
            try:
                self.task()
            finally:
                connections.close_all()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.threads.append(thread)
        assert self.running.acquire(timeout=60)


@pytest.fixture(params=[1, 2])
def held(request: pytest.FixtureRequest) -> Iterator[Held]:
    held = Held(request.param)
    yield held
    held.done.set()
    for thread in held.threads:
        thread.join(60)


@pytest.mark.django_db(transaction=True)
def test_further_run_does_nothing(held: Held) -> None:
    for _ in range(held.task.at_once):
        held.start()
    assert held.task() is None
    held.done.set()
    for thread in held.threads:
        thread.join(60)
    assert held.task() == "ran"


@pytest.mark.django_db(transaction=True)
def test_failed_run_gives_its_place_back() -> None:
    @periodic_task()
    def fails() -> None:
        raise RuntimeError("no")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            fails()
