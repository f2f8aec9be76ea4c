"""The model that comes after the start: seen on its way, served, and the default, in the web
processes and on the pages that were there before. A second engine with the small model stands for
the large one. Why one does not come: tests/infra/test_provisioning.py. And models that an operator
adds to the same product: copies of the small one, of which the memory holds one at a time. The
product is started as a person starts it, and ended as a person ends it; at night also for the first
time, on an empty folder."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, expect

from inference.model.files.sources import fetch
from infra.launcher.console import Console
from infra.launcher.model_spec import DEFAULT, read_spec
from infra.launcher.provisioning import PoolsFolder, Provisioning, Publisher
from infra.launcher.supervisor import Supervisor
from infra.services.ports import accepts_connections
from tests.e2e.users import Person, Visitor
from tests.support.launched import LaunchedProduct
from tests.support.minilm import CACHE, MINILM, REFERENCE
from tests.support.model_sources import Sources, launched, write_spec
from tests.support.product import Product

pytestmark = [pytest.mark.model, pytest.mark.timeout(480)]


MESSAGES = [{"role": "user", "content": "Say hello."}]
BESIDE = """
[[beside]]
id = "minilm"
name = "MiniLM"
source = "{folder}"
license = "Apache-2.0"
notice = "Made by others."
memory = 900_000_000
price = "0.00002"
"""


@pytest.fixture(scope="module")
def sources(model_file: Path) -> Iterator[Sources]:
    """A hub from which the model takes some minutes, until the test lets it go on."""
    made = Sources()
    made.add_to_hub(model_file.read_bytes())
    made.served.bytes_a_second = 3_000_000
    yield made
    made.close()


@pytest.fixture(scope="module")
def product(model_file: Path, scratch: Path, sources: Sources) -> Iterator[LaunchedProduct]:
    spec = write_spec(scratch / "page-spec", model_file.read_bytes())
    with spec.open("a") as file:
        file.write(BESIDE.format(folder=fetch(MINILM, cache=CACHE).resolve()))
    settings = {**sources.environment(), "PARLEY_MODEL_MEMORY": "1.5GB"}
    made = launched(scratch / "page", model_file, str(spec), settings, migrated=True)
    made.start()
    yield made
    if made.launcher.poll() is None:
        made.stop()


def pids_of_web(product: LaunchedProduct) -> set[int]:
    """Of uvicorn's workers, and of their parent."""
    parents = product.processes("backend.asgi:application")
    return {one.pid for parent in parents for one in (parent, *parent.children(recursive=True))}


def engine_of(product: LaunchedProduct, model: str) -> psutil.Process:
    """The server process of the engine that serves `model`."""
    [server] = product.processes(model)
    return server


def ask(client: httpx.Client, model: str) -> str:
    """A few words of `model`; which model answered."""
    body = {
        "model": model,
        "messages": MESSAGES,
        "max_tokens": 4,
    }
    answer = client.post("/api/chat/completions", json=body).raise_for_status()
    return str(answer.json()["model"])


def listed(client: httpx.Client) -> list[dict]:
    return list(client.get("/api/models").json()["data"])


def default_of(client: httpx.Client) -> str:
    return str(listed(client)[0]["id"])


def test_up_starts_every_process_and_hashes_passwords_at_full_cost(
    product: LaunchedProduct,
) -> None:
    family = psutil.Process(product.launcher.pid).children(recursive=True)
    commands = [" ".join(process.cmdline()) for process in family]
    for words in (
        "inference serve",
        "uvicorn",
        "--queues titles,celery ",
        "--queues money ",
        "--queues data ",
        "--queues webhooks,mail ",
        " beat ",
        " relay",
        " aggregate",
        " detect_abuse",
    ):
        assert any(words in command for command in commands), words
    assert re.search(r"\d web +\| ", product.output), "logs are prefixed"
    assert (product.var / "demo-login.txt").stat().st_mode & 0o077 == 0
    passwords = product.rows("SELECT password FROM accounts_user")
    assert passwords
    for row in passwords:
        assert row["password"].startswith("argon2$argon2id$v=19$m=102400,t=2,p=8$")


def test_model_that_is_fetched_becomes_the_default_without_restart_or_reload(
    browser: Browser, product: LaunchedProduct, sources: Sources, model_file: Path
) -> None:
    with product.owner() as client:
        before = pids_of_web(product)
        assert len(before) >= 3
        assert ask(client, "auto") == "smollm2-135m", "it answers meanwhile"

        def pending() -> list[dict]:
            return list(client.get("/api/models").json()["pending"])

        product.wait_until(lambda: pending()[0]["state"] == "fetching")
        model = pending()[0]
        assert (model["name"], model["license"]) == ("Large model of the tests", "Apache-2.0")
        assert model["total_bytes"] == model_file.stat().st_size

        person = Person(Visitor(browser, product.url))
        page = person.page
        person.open("/")
        picker = page.get_by_role("button", name=re.compile("^Model:"))
        expect(picker).to_have_accessible_name("Model: SmolLM2 135M Instruct")
        progress = page.get_by_role("progressbar", name="Fetching Large model of the tests")
        expect(progress).to_be_visible()
        expect(page.get_by_text(re.compile(r"Large model of the tests: \d+ %"))).to_be_visible()
        page.evaluate("window.neverReloaded = true")

        sources.served.bytes_a_second = 0
        expect(picker).to_have_accessible_name("Model: Large model of the tests", timeout=120_000)
        expect(page.get_by_text("is ready, and answers new chats.")).to_be_visible()
        expect(progress).to_be_hidden()
        assert page.evaluate("window.neverReloaded") is True
        picker.click()
        expect(page.get_by_text("Made by the tests. License: Apache-2.0.")).to_be_visible()
        page.keyboard.press("Escape")
        person.ask()
        assert person.stored()[-1]["model"] == "test-large"
        person.visitor.leave()

        # Each of the processes that were there knows it, and none refuses for want of a replica.
        assert {ask(client, "auto") for _ in range(12)} == {"test-large"}
        assert ask(client, "smollm2-135m") == "smollm2-135m", "jobs may still name it"
        assert pids_of_web(product) == before
        product.wait_until(lambda: pending() == [])
        models = client.get("/api/models").json()["data"]
        assert [one["status"] for one in models if one["id"] != "minilm"] == ["ready", "ready"]
        assert float(models[0]["prices"]["output"]) == 0.002, "it has its price from the beginning"
        metered = "SELECT DISTINCT model FROM billing_usagerecord WHERE model = 'test-large'"
        assert product.rows(metered)
        assert "is the default now" in product.output
        assert "Made by the tests." in product.output
        fetched = (product.var / "models" / "model.gguf").read_bytes()
        assert hashlib.sha256(fetched).digest() == hashlib.sha256(model_file.read_bytes()).digest()


@pytest.mark.nightly(
    beside="tests/chaos/test_services_killed.py"
    "::test_answer_continues_when_the_engine_is_killed_and_restarted"
)
def test_small_model_answers_until_a_killed_engine_is_back(product: LaunchedProduct) -> None:
    """After the test above: the large model is the default."""
    with product.owner() as client:
        product.wait_until(lambda: default_of(client) == "test-large")
        engine_of(product, "test-large").kill()
        product.wait_until(lambda: default_of(client) == "smollm2-135m")
        assert ask(client, "auto") == "smollm2-135m"
        product.wait_until(lambda: default_of(client) == "test-large")
        assert ask(client, "auto") == "test-large"


@pytest.mark.nightly(
    beside="tests/contract/test_embeddings.py"
    "::test_embeddings_without_a_model_come_from_one_that_can"
)
def test_embeddings_are_by_the_model_beside_the_default_which_is_loaded_for_them(
    product: LaunchedProduct,
) -> None:
    known = json.loads(REFERENCE.read_text())
    with product.owner() as client:
        product.wait_until(lambda: "minilm" in {m["id"] for m in listed(client)})
        [model] = [m for m in listed(client) if m["id"] == "minilm"]
        assert (model["status"], model["license"]) == ("idle", "Apache-2.0")
        secret = client.post("/api/keys", json={"name": "vectors"}).json()["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=product.url, headers=headers, timeout=120) as api:
        for name in ({}, {"model": "auto"}):
            body = {"input": known["texts"][:3], **name}
            answer = api.post("/v1/embeddings", json=body).raise_for_status().json()
            assert answer["model"] == "minilm"
            for found, wanted in zip(answer["data"], known["vectors"], strict=False):
                assert found["embedding"] == pytest.approx(wanted, abs=1e-4)
        body = {"query": "Where is the cat?", "documents": known["texts"][:4], "top_n": 1}
        [best] = api.post("/v1/rerank", json=body).raise_for_status().json()["results"]
        assert best["document"]["text"] == known["texts"][0]
        refused = api.post("/v1/chat/completions", json={"model": "minilm", "messages": MESSAGES})
        assert refused.json()["error"]["code"] == "unsupported_by_model"
    metered = "SELECT model FROM billing_usagerecord WHERE model = 'minilm' AND output_tokens = 0"
    assert len(product.rows(metered)) == 3


def states_of_copies(client: httpx.Client) -> dict[str, str]:
    return {m["id"]: m["status"] for m in listed(client) if m["id"].startswith("copy-")}


@pytest.fixture(scope="module")
def copies(model_file: Path, scratch: Path) -> dict[str, Path]:
    found = {name: scratch / f"{name}.gguf" for name in ("copy-a", "copy-b")}
    for copy in found.values():
        copy.symlink_to(model_file)
    return found


def add(product: LaunchedProduct, copy: Path, *options: str) -> str:
    done = product.manage("models", "add", f"file:{copy}", "--context", "1024", *options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_added_model_is_served_may_be_the_default_and_is_removed(
    product: LaunchedProduct, model_file: Path, copies: dict[str, Path]
) -> None:
    with product.owner() as client:
        before = pids_of_web(product)
        said = add(product, copies["copy-a"], "--name", "Copy A", "--output-price", "0.003")
        digest = hashlib.sha256(model_file.read_bytes()).hexdigest()
        assert "ready" in said and digest in said and "apache-2.0" in said
        product.wait_until(lambda: "copy-a" in {m["id"] for m in listed(client)})
        [model] = [m for m in listed(client) if m["id"] == "copy-a"]
        assert (model["name"], model["license"]) == ("Copy A", "apache-2.0")
        assert float(model["prices"]["output"]) == 0.003
        assert ask(client, "copy-a") == "copy-a"
        assert pids_of_web(product) == before, "nothing was started again"

        assert product.manage("models", "default", "copy-a").returncode == 0
        product.wait_until(lambda: default_of(client) == "copy-a")
        assert product.manage("models", "remove", "copy-a").returncode == 0
        left = {"test-large", "smollm2-135m", "minilm"}
        product.wait_until(lambda: {m["id"] for m in listed(client)} == left)
        product.wait_until(lambda: default_of(client) == "test-large")
        assert "copy-" not in product.manage("models", "list").stdout
        assert copies["copy-a"].exists(), "an operator's file stays"


@pytest.mark.nightly(
    beside="tests/infra/test_fleet.py"
    "::test_least_recently_used_model_is_unloaded_for_another_and_never_one_in_use"
)
def test_added_models_take_turns_in_memory(
    browser: Browser, product: LaunchedProduct, copies: dict[str, Path]
) -> None:
    with product.owner() as client:
        add(product, copies["copy-a"], "--name", "Copy A")
        add(product, copies["copy-b"], "--no-wait")
        product.wait_until(
            lambda: states_of_copies(client) == {"copy-a": "idle", "copy-b": "ready"}
        )
        person = Person(Visitor(browser, product.url))
        person.open("/")
        person.page.get_by_role("button", name=re.compile("^Model:")).click()
        person.page.get_by_role("menuitemradio", name=re.compile("Copy A")).click()
        person.page.get_by_role("textbox", name="Message").fill("Say hello.")
        person.page.keyboard.press("Enter")
        # On a fast machine it is loaded before the page has asked how it is.
        loading = person.page.get_by_text("Copy A is loading")
        expect(loading.or_(person.answer).first).to_be_visible(timeout=60_000)
        product.wait_until(lambda: [m["model"] for m in person.stored()][-1:] == ["copy-a"])
        person.visitor.leave()
        product.wait_until(
            lambda: states_of_copies(client) == {"copy-a": "ready", "copy-b": "idle"}
        )
        for name in copies:
            assert product.manage("models", "remove", name).returncode == 0


@pytest.mark.nightly(
    beside="tests/infra/test_fleet.py"
    "::test_model_that_has_changed_is_declined_until_it_is_added_again"
)
def test_model_that_cannot_be_served_is_declined_and_the_others_go_on(
    product: LaunchedProduct, model_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bad.gguf"

    def refused(identity: str, *options: str) -> str:
        done = product.manage("models", "add", f"file:{path}", "--id", identity, *options)
        assert done.returncode == 1
        return done.stdout

    path.symlink_to(model_file)
    assert "does not have SHA-256 0000" in refused("other", "--sha256", "0" * 64)
    path.unlink()
    path.write_bytes(b"GGUF and nothing more")
    assert "has GGUF version" in refused("bad")
    with product.owner() as client:
        assert "bad" not in client.get("/api/models").text, "its reason names files of the machine"
        assert ask(client, "auto") == "test-large"
    listing = product.manage("models", "list").stdout
    assert re.search("^bad +declined.*has GGUF version", listing, re.MULTILINE)
    assert product.manage("models", "remove", "bad").returncode == 0
    product.wait_until(lambda: "bad" not in (product.var / "models/machine.json").read_text())


def test_everything_ends_on_ctrl_c(product: LaunchedProduct) -> None:
    """After the tests above: engines that were loaded and unloaded are among what ends."""
    family = psutil.Process(product.launcher.pid).children(recursive=True)
    said = len(product.lines)
    code = product.stop()
    rest = "".join(product.lines[said:])
    assert code == 0, rest
    assert "Traceback" not in rest
    assert not [process for process in family if process.is_running()]
    assert not accepts_connections(product.port)


@pytest.mark.nightly(
    beside="tests/e2e/test_better_model.py"
    "::test_up_starts_every_process_and_hashes_passwords_at_full_cost"
)
def test_first_start_makes_its_database(model_file: Path, scratch: Path) -> None:
    """Nothing is there but the model's file."""
    made = launched(scratch / "first", model_file, "small", {}, migrated=False)
    made.start()
    try:
        with made.owner() as client:
            assert ask(client, "auto") == "smollm2-135m"
    finally:
        assert made.stop() == 0


def test_reason_is_shown_where_it_does_not_come(
    sign_up: Callable[..., Person], live_product: Product, tmp_path: Path
) -> None:
    spec = read_spec(DEFAULT)
    publisher = Publisher(spec, live_product.environment["REDIS_URL"])
    try:
        Provisioning(
            spec,
            models=tmp_path,
            pools=PoolsFolder(tmp_path),
            supervisor=Supervisor({}, Console()),
            engine_command="false",
            console=Console(),
            publisher=publisher,
            declined="MODEL=small was asked for",
        )
        person = sign_up()
        person.open("/")
        person.page.get_by_role("button", name=re.compile("^Model:")).click()
        note = "Qwen2.5 Coder 1.5B is not served: MODEL=small was asked for."
        expect(person.page.get_by_text(note)).to_be_visible()
    finally:
        publisher.stop()
