"""Fixtures for every test; the machinery behind them is in tests/support."""

import functools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connection
from django.test import TransactionTestCase

from backend.platform import key_files
from infra.launcher import frontend, model
from infra.launcher.procfile import ROOT
from tests.support import database, nightly
from tests.support.engine import Engine
from tests.support.otlp_receiver import OtlpReceiver
from tests.support.plugin import SERVICES
from tests.support.product import Product
from tests.support.scripted import ScriptedProduct
from tests.support.staff import Staff
from tests.support.static_files import collected_static_files, read_files_once
from tests.support.voice import voice_beside


def pytest_configure(config: pytest.Config) -> None:
    if nightly.is_left_out(config):
        nightly.try_fewer_examples()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What asks a shared product is run where that product is (infra/checks.py): each costs
    processor time for as long as it stands, also while nobody asks it. No run begins while a test
    is left to the night and none in its place."""
    if nightly.is_whole(config) and (wrong := nightly.unkept(items, config.rootpath)):
        raise pytest.UsageError(*wrong)
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for fixture, mark in (("model_engine", "live"), ("scripted_product", "scripted")):
            if fixture in fixtures:
                item.add_marker(mark)


@pytest.fixture(scope="session")
def services(pytestconfig: pytest.Config) -> None:
    """PostgreSQL, Valkey and the event log of this run, at the URLs of the environment."""
    pytestconfig.stash[SERVICES].start()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(services: None, pytestconfig: pytest.Config) -> None:
    """pytest-django's hook before it makes the test database: the server runs now."""
    connection.settings_dict["TEST"]["TEMPLATE"] = pytestconfig.stash[SERVICES].template


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool, pytestconfig: pytest.Config) -> bool:
    """The test database goes with its server: it is not dropped, which waits until all left it."""
    return django_db_keepdb or pytestconfig.stash[SERVICES].template is not None


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """pytest-django's test database, which is cheap to empty after a transactional test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", database.restore)
        yield


@pytest.fixture(autouse=True)
def empty_redis(pytestconfig: pytest.Config) -> None:
    """Each test finds Redis empty: limits, leases and caches of another test are gone.

    Nothing to do before a test has started it. The product of `live_product` has a Redis of its
    own, which is left alone.
    """
    if pytestconfig.stash[SERVICES].started:
        _redis_of_this_run().flushdb()


@pytest.fixture(scope="session")
def model_file() -> Path:
    """The default model's GGUF file, fetched on first use and kept in var/models."""
    return model.ensure(ROOT / "var" / "models")


@pytest.fixture(scope="session")
def otlp_receiver() -> Iterator[OtlpReceiver]:
    """Where the shared engine and the shared products send their spans."""
    receiver = OtlpReceiver()
    receiver.start()
    yield receiver
    receiver.stop()


@pytest.fixture(scope="session")
def model_engine(model_file: Path, scratch: Path, otlp_receiver: OtlpReceiver) -> Iterator[Engine]:
    """A real engine with the default model, shared by all tests of the run: do not kill it."""
    engine = Engine(model_file, scratch)
    engine.start({**os.environ, **otlp_receiver.environment})
    yield engine
    engine.stop()


@pytest.fixture(scope="session")
def live_product(
    request: pytest.FixtureRequest,
    model_engine: Engine,
    scratch: Path,
    otlp_receiver: OtlpReceiver,
) -> Iterator[Product]:
    """The running product with the real model, two web processes: do not kill its parts.

    Tests keep apart by signing up users of their own. The page is built first when a browser
    test is among the tests of this run.
    """
    if any(item.get_closest_marker("e2e") for item in request.session.items):
        _build_page()
    settings = otlp_receiver.environment
    product = Product(scratch / "live", engine_url=model_engine.url, webs=2, settings=settings)
    try:
        product.start()
        yield product
    finally:
        product.stop()


@pytest.fixture(scope="module")
def voice_product(live_product: Product) -> Iterator[Product]:
    """`live_product` with a voice server and its two models."""
    with voice_beside(live_product):
        yield live_product


@pytest.fixture(scope="session")
def scripted_product(
    request: pytest.FixtureRequest, scratch: Path, otlp_receiver: OtlpReceiver
) -> Iterator[ScriptedProduct]:
    """The running product, two web processes, with an upstream that says what a test tells it
    to: do not kill its parts. It stands behind a proxy on this machine: a request's
    `X-Forwarded-For` is where it comes from. Its keys are in a file, and may be rotated."""
    if any(item.get_closest_marker("e2e") for item in request.session.items):
        _build_page()
    directory = scratch / "scripted"
    keys = directory / "keys"
    key_files.keys_file_ensure(keys)
    settings = {
        "PARLEY_TRUSTED_PROXIES": "127.0.0.1",
        "PARLEY_KEYS": "",
        "PARLEY_KEYS_FILE": str(keys),
        **otlp_receiver.environment,
    }
    product = ScriptedProduct(directory, settings=settings)
    try:
        product.start()
        yield product
    finally:
        product.stop()


@pytest.fixture(scope="session")
def administrator(scripted_product: ScriptedProduct) -> Iterator[Staff]:
    """Somebody who administers `scripted_product`."""
    user = Staff(scripted_product)
    yield user
    user.close()


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> Iterator[None]:
    """A password is hashed in a hundredth of the product's time (0.2 s of a processor, 100 MiB),
    which a product that is started as a user's has (tests/e2e/test_better_model.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Argon2PasswordHasher, "memory_cost", 64)
        patch.setattr(Argon2PasswordHasher, "time_cost", 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def files_read_once() -> Iterator[None]:
    """The middleware of static files reads them for the first client of the run only."""
    with pytest.MonkeyPatch.context() as patch:
        read_files_once(patch)
        yield


@pytest.fixture(scope="session")
def static_files() -> None:
    """For pages rendered in the tests' own process: they name their style sheets by hash."""
    collected_static_files()


@pytest.fixture(scope="session")
def scratch() -> Path:
    """The directory of this run, removed at its end; the database's account can pass it."""
    return Path(os.environ["PARLEY_TEST_DIRECTORY"])


@pytest.fixture
def passable(scratch: Path) -> Path:
    """A new directory that the database's account can pass, unlike pytest's own, which every run
    of pytest that begins shuts to all but us."""
    directory = Path(tempfile.mkdtemp(dir=scratch))
    directory.chmod(0o711)
    return directory


@functools.cache
def _redis_of_this_run() -> redis.Redis:
    return redis.Redis.from_url(os.environ["REDIS_URL"])


def _build_page() -> None:
    if not frontend.build_is_current():
        node = frontend.find_node()
        frontend.ensure_packages(node)
        frontend.build(node)
