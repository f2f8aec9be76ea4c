"""The product, as the tests start it, serves (as a person does: tests/e2e/test_better_model.py)."""

import os
import shutil
from pathlib import Path

import httpx
import pytest

from infra.launcher import probe
from tests.support.engine import ENGINE_HEADERS, Engine
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
