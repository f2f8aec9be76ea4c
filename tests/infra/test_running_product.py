"""The product, started as a person and as the tests start it, serves and ends."""

import os
import re
import shutil
from pathlib import Path

import httpx
import psutil
import pytest

from infra.launcher import probe
from infra.services.ports import accepts_connections
from tests.support.engine import ENGINE_HEADERS, Engine
from tests.support.model_sources import launched
from tests.support.product import Product

pytestmark = pytest.mark.model


def test_product_of_the_tests_serves_a_token_and_meters_it(live_product: Product) -> None:
    recorded = "SELECT generation_id, output_tokens FROM billing_usagerecord"
    before = {record["generation_id"] for record in live_product.rows(recorded)}
    failure = probe.wait_for_first_token(
        live_product.url, live_product.demo_login, engine_url=None, timeout=60
    )
    assert failure is None
    new = [
        record for record in live_product.rows(recorded) if record["generation_id"] not in before
    ]
    assert [record["output_tokens"] for record in new] == [1]


def test_engine_of_the_procfile_rounds_activations_where_the_processor_can(
    model_engine: Engine,
) -> None:
    # Not asked of the kernels: they would bring torch into this process.
    compilers = (os.environ.get("CXX", "g++"), "clang++")
    can_round = any(map(shutil.which, compilers)) and "avx2" in Path("/proc/cpuinfo").read_text()
    kept = "float16" if can_round else "float32"
    metrics = httpx.get(f"{model_engine.url}/metrics", headers=ENGINE_HEADERS).text
    assert f'cache_dtype="{kept}"' in metrics


@pytest.mark.timeout(360)
def test_up_serves_the_small_model_and_ends_everything_on_ctrl_c(
    model_file: Path, scratch: Path
) -> None:
    """With MODEL=small: that model is the only one, and the page is told why. Passwords cost what
    they cost a user, unlike in the other products of the tests."""
    product = launched(scratch / "up", model_file, "small", {}, migrated=False)
    product.start()
    try:
        family = psutil.Process(product.launcher.pid).children(recursive=True)
        commands = [" ".join(process.cmdline()) for process in family]
        for words in (
            "inference serve",
            "uvicorn",
            "--queues celery ",
            "--queues webhooks ",
            " beat ",
            " relay",
            " aggregate",
            " detect_abuse",
        ):
            assert any(words in command for command in commands), words
        assert re.search(r"\d web +\| ", product.output), "logs are prefixed"
        assert (product.var / "demo-login.txt").stat().st_mode & 0o077 == 0

        product.wait_until(lambda: "The small model stays." in product.output)
        with product.owner() as client:
            product.wait_until(lambda: client.get("/api/models").json()["pending"])
            models = client.get("/api/models").json()
        [pending] = models["pending"]
        assert (pending["state"], pending["detail"]) == ("declined", "MODEL=small was asked for")
        assert [model["id"] for model in models["data"]] == ["smollm2-135m"]
        assert not list((product.var / "models").glob(".*partial"))
        passwords = product.rows("SELECT password FROM accounts_user")
        assert passwords
        for row in passwords:
            assert row["password"].startswith("argon2$argon2id$v=19$m=102400,t=2,p=8$")
        said = len(product.lines)
    finally:
        code = product.stop()

    rest = "".join(product.lines[said:])
    assert code == 0, rest
    assert "Traceback" not in rest
    assert not [process for process in family if process.is_running()]
    assert not accepts_connections(product.port)
