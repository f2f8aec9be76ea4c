"""The model that comes after the start: seen on its way, served, and the default, in the web
processes that were there before. A second engine with the small model stands for the large one."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from infra.launcher.probe import read_demo_login
from tests.support.launched import LaunchedProduct
from tests.support.model_sources import Sources, launched, write_spec

pytestmark = [pytest.mark.model, pytest.mark.timeout(480)]


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    made = Sources()
    yield made
    made.close()


def signed_in(product: LaunchedProduct) -> httpx.Client:
    login = read_demo_login(product.var)
    client = httpx.Client(base_url=product.url, timeout=60)
    client.get("/")
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    credentials = {"email": login.email, "password": login.password}
    client.post("/api/auth/login", json=credentials).raise_for_status()
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    return client


def wait_until(condition: Callable[[], object], product: LaunchedProduct) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, product.output[-3000:]
        time.sleep(0.2)


def web_processes(product: LaunchedProduct) -> set[int]:
    """Pids of uvicorn's workers, and of their parent."""
    found = set()
    for process in psutil.Process(product.launcher.pid).children(recursive=True):
        try:
            if "backend.asgi:application" in process.cmdline():
                found |= {process.pid, *(child.pid for child in process.children(recursive=True))}
        except psutil.NoSuchProcess:
            continue
    return found


def engine_of(product: LaunchedProduct, name: str) -> psutil.Process:
    """The server process of the engine that serves the model `name`."""
    for process in psutil.Process(product.launcher.pid).children(recursive=True):
        if name in process.cmdline():
            return process
    raise AssertionError(f"no engine serves {name}")


def ask(client: httpx.Client, model: str) -> dict:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 4,
    }
    return dict(client.post("/api/chat/completions", json=body).raise_for_status().json())


def test_model_that_is_fetched_becomes_the_default_without_a_restart(
    model_file: Path, scratch: Path, sources: Sources
) -> None:
    content = model_file.read_bytes()
    sources.add_to_hub(content)
    sources.served.bytes_a_second = 6_000_000
    spec = write_spec(scratch / "spec", content)
    product = launched(scratch / "arrives", model_file, str(spec), sources.environment())
    product.start()
    try:
        client = signed_in(product)
        before = web_processes(product)
        assert len(before) >= 3
        assert ask(client, "auto")["model"] == "smollm2-135m", "it answers meanwhile"

        def pending() -> list[dict]:
            return list(client.get("/api/models").json()["pending"])

        wait_until(lambda: pending() and pending()[0]["state"] == "fetching", product)
        [model] = pending()
        assert model["name"] == "Large model of the tests"
        assert model["license"] == "Apache-2.0"
        assert model["total_bytes"] == len(content)
        wait_until(lambda: pending() == [] or pending()[0]["done_bytes"] > 1e7, product)
        sources.served.bytes_a_second = 0

        def default() -> str:
            return str(client.get("/api/models").json()["data"][0]["id"])

        wait_until(lambda: default() == "test-large", product)
        # Each of the processes that were there knows it, and none refuses for want of a replica.
        answers = [ask(client, "auto") for _ in range(12)]
        assert {answer["model"] for answer in answers} == {"test-large"}
        assert ask(client, "smollm2-135m")["model"] == "smollm2-135m", "jobs may still name it"
        assert web_processes(product) == before
        wait_until(lambda: pending() == [], product)
        models = client.get("/api/models").json()["data"]
        assert [one["status"] for one in models] == ["ready", "ready"]
        assert float(models[0]["prices"]["output"]) == 0.002, "it has its price from the beginning"
        billed = product.rows(
            "SELECT DISTINCT model FROM billing_usagerecord WHERE model = 'test-large'"
        )
        assert billed, "what it answers is metered"
        assert "is the default now" in product.output
        assert "Made by the tests." in product.output
        fetched = product.var / "models" / "model.gguf"
        assert hashlib.sha256(fetched.read_bytes()).digest() == hashlib.sha256(content).digest()

        # Its engine is killed: the small model answers until it has come back.
        engine_of(product, "test-large").kill()
        wait_until(lambda: default() == "smollm2-135m", product)
        assert ask(client, "auto")["model"] == "smollm2-135m"
        wait_until(lambda: default() == "test-large", product)
        assert ask(client, "auto")["model"] == "test-large"
    finally:
        product.stop()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"memory": 10**15}, "it needs 1000000.0 GB of memory"),
        ({"size": 10**15}, "1000000.2 GB of disk"),
        ({"sha256": "0" * 64}, "the SHA-256 is not the one we know"),
    ],
)
def test_model_that_cannot_be_had_leaves_the_small_one_and_says_why(
    model_file: Path, scratch: Path, sources: Sources, changes: dict[str, object], reason: str
) -> None:
    name = next(iter(changes))
    sources.served.bytes_a_second = 0
    content = os.urandom(2_000_000)
    sources.add_to_hub(content)
    spec = write_spec(scratch / f"spec-{name}", content, **changes)
    product = launched(scratch / f"declined-{name}", model_file, str(spec), sources.environment())
    product.start()
    try:
        wait_until(lambda: "The small model stays." in product.output, product)
        assert reason in product.output
        client = signed_in(product)

        def details() -> list[str]:
            return [model["detail"] for model in client.get("/api/models").json()["pending"]]

        wait_until(lambda: any(reason in detail for detail in details()), product)
        assert ask(client, "auto")["model"] == "smollm2-135m"
    finally:
        product.stop()


def test_small_model_alone_where_that_is_asked_for(model_file: Path, scratch: Path) -> None:
    product = launched(scratch / "small", model_file, "small", {})
    product.start()
    try:
        wait_until(lambda: "The small model stays." in product.output, product)
        client = signed_in(product)
        wait_until(lambda: client.get("/api/models").json()["pending"], product)
        [model] = client.get("/api/models").json()["pending"]
        assert (model["state"], model["detail"]) == ("declined", "MODEL=small was asked for")
        assert [one["id"] for one in client.get("/api/models").json()["data"]] == ["smollm2-135m"]
        assert not list((product.var / "models").glob(".*partial"))
    finally:
        product.stop()
