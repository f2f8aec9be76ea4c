"""Every route of the OpenAPI document, with another organization's session and key and without.

The list of routes is the document's own, so a new route without a line here fails.
"""

import secrets
from collections.abc import Iterator

import httpx
import pytest

from tests.api.users import Person, program, sign_up
from tests.tenancy.belongings import Belongings, everything
from tests.tenancy.routes import (
    ABSENT,
    ADMINISTRATION,
    BEFORE_SIGNING_IN,
    BODIES,
    PUBLIC,
    SESSION_ONLY,
)

pytestmark = pytest.mark.model
CANARY = f"canary{secrets.token_hex(6)}"


@pytest.fixture(scope="module")
def belongings(product) -> Iterator[Belongings]:
    made = everything(product.url, CANARY)
    yield made
    made.owner.browser.close()


@pytest.fixture(scope="module")
def other_user(product) -> Iterator[Person]:
    user = sign_up(product.url)
    yield user
    user.browser.close()


@pytest.fixture(scope="module")
def operations(product) -> list[tuple[str, str]]:
    paths = httpx.get(f"{product.url}/openapi.json").json()["paths"]
    return [(method.upper(), path) for path, item in paths.items() for method in item]


def test_openapi_document_lists_every_public_route(operations):
    assert ("POST", "/v1/chat/completions") in operations
    assert ("GET", "/api/generations/{generation_id}/events") in operations
    assert len(operations) >= 30


_EVERYBODYS = ("models/{model_id}", "roles/{role_id}")  # the same in every organization


def _object_routes(operations: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [
        (method, path)
        for method, path in operations
        if "{" in path and not path.endswith(_EVERYBODYS) and (method, path) not in PUBLIC
    ]


def test_every_route_is_401_without_credentials(product, operations, belongings):
    with httpx.Client(base_url=product.url) as anonymous:
        for method, path in operations:
            if (method, path) in PUBLIC | BEFORE_SIGNING_IN:
                continue
            url = path.format(**belongings.ids)
            answer = anonymous.request(method, url, json=BODIES.get((method, path)))
            assert answer.status_code == 401, (method, path, answer.text)
            assert answer.json()["error"]["type"] == "authentication_error"


def test_key_of_another_organization_finds_nothing(product, operations, belongings, other_user):
    administers = other_user.new_key(scopes=["administration"])["secret"]
    with (
        program(product.url, other_user.new_key()["secret"]) as ordinary,
        program(product.url, administers) as administrator,
    ):
        for method, path in _object_routes(operations):
            url = path.format(**belongings.ids)
            client = administrator if path.startswith(ADMINISTRATION) else ordinary
            answer = client.request(method, url, json=BODIES.get((method, path)))
            expected = 401 if (method, path) in SESSION_ONLY else 404
            assert answer.status_code == expected, (method, path, answer.text)


def test_session_of_another_organization_finds_nothing_and_reads_what_is_said_of_a_missing_id(
    operations, belongings, other_user
):
    for method, path in _object_routes(operations):
        body = BODIES.get((method, path))
        name = path.partition("{")[2].partition("}")[0]
        unknown = "999999999" if str(belongings.ids[name]).isdigit() else ABSENT
        foreign = other_user.browser.request(method, path.format(**belongings.ids), json=body)
        takes_sessions = not path.startswith("/v1/")
        assert foreign.status_code == (404 if takes_sessions else 401), (method, path, foreign.text)
        absent = path.format(**{**belongings.ids, name: unknown})
        missing = other_user.browser.request(method, absent, json=body)
        answered = foreign.text.replace(str(belongings.ids[name]), unknown)
        assert (foreign.status_code, answered) == (missing.status_code, missing.text), (
            method,
            path,
        )


def test_parent_is_refused_when_it_is_in_another_conversation(belongings, other_user):
    conversation_id = other_user.new_conversation()
    answer = other_user.browser.post(
        f"/api/conversations/{conversation_id}/messages",
        json={"content": "hello", "parent_id": belongings.ids["message_id"]},
    )
    assert answer.status_code in {400, 404}


def test_foreign_attachment_is_not_sent_to_a_model(belongings, other_user):
    conversation_id = other_user.new_conversation()
    part = {"type": "file", "attachment_id": belongings.ids["attachment_id"]}
    answer = other_user.browser.post(
        f"/api/conversations/{conversation_id}/messages", json={"content": [part]}
    )
    assert answer.status_code in {400, 404}
    assert CANARY not in answer.text


# What the scope `usage` opens, and what needs no scope.
_OPEN_TO_USAGE = (
    "/api/usage",
    "/api/invoices",
    "/api/budgets",
    "/api/credit",
    "/api/webhooks",
    "/v1/organization/usage",
    "/v1/organization/costs",
    "/api/me",
    "/api/announcements",
    "/api/data-policy",
    "/api/exports",
    "/api/erasures",
    "/api/auth",
    # No key opens these.
    "/api/billing",
    "/api/organization/sso",
    "/api/organization/scim",
    "/api/organization/sign-in-policy",
    "/api/organization/ip-allow-list",
    "/api/organization/group-rules",
    "/api/organization/tool-servers",
    "/api/organization/web-search",
    "/api/conversations/{conversation_id}/tool-calls",
    "/api/tool-calls",
    "/api/tool-servers",
    "/api/request-logs",
    "/api/shared",
)


def test_key_is_refused_beyond_its_scopes(product, operations, belongings):
    secret = belongings.owner.new_key(scopes=["usage"])["secret"]
    with program(product.url, secret) as client:
        assert client.get("/api/usage").status_code == 200
        for method, path in operations:
            if path.startswith(_OPEN_TO_USAGE) or (method, path) in PUBLIC:
                continue
            answer = client.request(
                method, path.format(**belongings.ids), json=BODIES.get((method, path))
            )
            assert answer.status_code == 403, (method, path, answer.text)
            assert answer.json()["error"]["code"] == "insufficient_scope"


# No key opens these.
_OWNERS_ONLY = tuple(
    f"/api/organization/{part}" for part in ("sso", "scim", "ip-allow-list", "group-rules")
)


def test_key_without_scopes_does_not_administer(product, operations, belongings):
    """It may be in a program that is to generate, and must not make a person an owner."""
    with program(product.url, belongings.owner.new_key()["secret"]) as client:
        wanted = {"name": "more", "scopes": ["administration"]}
        assert client.post("/api/keys", json=wanted).status_code == 403
        for method, path in operations:
            if path.startswith(ADMINISTRATION) and not path.startswith(_OWNERS_ONLY):
                url, body = path.format(**belongings.ids), BODIES.get((method, path))
                answer = client.request(method, url, json=body)
                # 401: what no key opens at all.
                assert answer.status_code in {401, 403}, (method, path, answer.text)
