"""Schemathesis reads the OpenAPI document and tries to make any route answer 5xx.

Bounded in examples and deterministic, so that a failure can be repeated: `make test` takes two of
each kind for each route, `make fuzz` many. It calls with an unrestricted key of a person of its
own, who owns everything that it makes.
"""

import os
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case

from tests.api.users import sign_up
from tests.support.product import Product

pytestmark = [pytest.mark.model, pytest.mark.timeout(3600)]

BOUNDED = settings(
    max_examples=int(os.environ.get("PARLEY_FUZZ_EXAMPLES", "2")),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def authorization(product: Product) -> Iterator[dict[str, str]]:
    user = sign_up(product.url)
    yield {"Authorization": f"Bearer {user.new_key()['secret']}"}
    user.browser.close()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_route_answers_5xx(product: Product, authorization: dict[str, str], mode):
    document = httpx.get(f"{product.url}/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    answered: dict[str, set[int]] = {}
    failures: list[str] = []

    def call(case: Case) -> None:
        answer = case.call(base_url=product.url, headers=authorization, timeout=60)
        answered.setdefault(f"{case.method} {case.path}", set()).add(answer.status_code)
        if answer.status_code >= 500:
            failures.append(f"{answer.status_code} {case.as_curl_command()}")

    for result in schema.get_all_operations():
        operation = result.ok()  # an invalid schema fails here
        # An operation that takes nothing has nothing to get wrong.
        with suppress(Unsatisfiable):
            BOUNDED(given(operation.as_strategy(generation_mode=mode))(call))()

    assert failures == []
    assert len(answered) >= (30 if mode is GenerationMode.POSITIVE else 20)
