"""Schemathesis reads the OpenAPI document and tries to make any route answer 5xx, or something
that the document does not describe.

Bounded in examples and deterministic, so that a failure can be repeated: `make test` takes one that
is valid for each route, and a second where there is a body, the night one more that is not,
`make fuzz` many (`ROUTES=/v1/files` those that begin so).
"""

import os
from contextlib import suppress
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
)

from backend.accounts.scopes import Scope
from tests.api.users import sign_up
from tests.support.product import Product

pytestmark = [pytest.mark.model, pytest.mark.timeout(3600)]


def bounded(mode: GenerationMode, *, has_body: bool) -> settings:
    examples = 2 if has_body and mode is GenerationMode.POSITIVE else 1
    return settings(
        max_examples=int(os.environ.get("PARLEY_FUZZ_EXAMPLES", examples)),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


# Only routes whose path begins so; all where it is not set.
ROUTES = os.environ.get("PARLEY_FUZZ_ROUTES", "")
DESCRIBED: list[Any] = [content_type_conformance, response_schema_conformance]


class Callers:
    """A person who owns all they make, and their key with every scope; others once these no longer
    open anything: a call has signed them out, say, or allowed other networks than ours."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self.renew()

    def renew(self) -> None:
        self._person = sign_up(self._product.url)
        self._key = self._person.new_key(scopes=list(Scope))["secret"]

    def credentials(self, path: str) -> dict[str, Any]:
        """How requests to `path` say who they are from."""
        if path.startswith("/v1"):
            return {"headers": {"Authorization": f"Bearer {self._key}"}}
        cookies = dict(self._person.browser.cookies)
        return {"headers": {"X-CSRFToken": cookies["csrftoken"]}, "cookies": cookies}

    def open_something(self) -> bool:
        paths = ("/api/organization", "/v1/models")
        return all(
            httpx.get(self._product.url + path, **self.credentials(path)).is_success
            for path in paths
        )


@pytest.fixture(scope="module")
def callers(product: Product) -> Callers:
    return Callers(product)


def described_otherwise(case: Case, answer: Any) -> list[str]:
    """What of an answer the document does not describe."""
    try:
        case.validate_response(answer, checks=DESCRIBED)
    except FailureGroup as group:
        return [f"{one.title}: {one.message}" for one in group.exceptions]
    return []


VALID = "tests/api/test_fuzzing.py::test_no_route_answers_5xx[positive]"
# What no schema takes is refused by one validation for all routes (test_limits_of_requests.py,
# test_validation.py, tests/contract/test_bad_fields.py).
AT_NIGHT = pytest.mark.nightly(beside=VALID)


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, pytest.param(GenerationMode.NEGATIVE, marks=AT_NIGHT)]
)
def test_no_route_answers_5xx(product: Product, callers: Callers, mode):
    document = httpx.get(f"{product.url}/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    answered: dict[str, set[int]] = {}
    failures: dict[str, str] = {}  # the first request for each kind

    def call(case: Case) -> None:
        route = f"{case.method} {case.path}"
        answer = case.call(base_url=product.url, timeout=60, **callers.credentials(case.path))
        answered.setdefault(route, set()).add(answer.status_code)
        if answer.status_code >= 500:
            failures.setdefault(f"{answer.status_code} {route}", case.as_curl_command())
        elif answer.status_code < 300:
            for problem in described_otherwise(case, answer):
                failures.setdefault(f"{route}: {problem}", case.as_curl_command())

    for result in schema.get_all_operations():
        operation = result.ok()  # an invalid schema fails here
        if not operation.path.startswith(ROUTES):
            continue
        # An operation that takes nothing has nothing to get wrong.
        with suppress(Unsatisfiable):
            examples = bounded(mode, has_body=bool(operation.body))
            examples(given(operation.as_strategy(generation_mode=mode))(call))()
        if answered.get(operation.label, set()) & {401, 403} and not callers.open_something():
            callers.renew()

    assert failures == {}
    if not ROUTES:
        assert len(answered) >= (30 if mode is GenerationMode.POSITIVE else 20)
