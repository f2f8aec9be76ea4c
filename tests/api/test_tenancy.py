"""Every route of the OpenAPI document, with another organization's session and key and without.

The list of routes is the document's own, so a new route without a line here fails.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.api.event_stream import read_events
from tests.api.users import Browser, Person, program, sign_up

pytestmark = pytest.mark.model

UPLOAD = {"filename": "a", "purpose": "batch", "bytes": 9, "mime_type": "text/plain"}
# Bodies that are valid, so that a refusal is about the caller and not about the request.
BODIES: dict[tuple[str, str], Any] = {
    ("PATCH", "/api/conversations/{conversation_id}"): {"title": "taken over"},
    ("POST", "/api/conversations/{conversation_id}/messages"): {"content": "hello"},
    ("POST", "/api/messages/{message_id}/regenerate"): {},
    ("PUT", "/api/sharing"): {"is_allowed": True},
    ("PUT", "/api/messages/{message_id}/feedback"): {"rating": -1, "comment": "taken over"},
    ("POST", "/v1/chat/completions"): {"model": "auto", "messages": []},
    ("POST", "/v1/chat/completions/{completion_id}"): {"metadata": {"a": "taken over"}},
    ("POST", "/api/chat/completions"): {"model": "auto", "messages": []},
    ("POST", "/v1/completions"): {"model": "auto", "prompt": ""},
    ("POST", "/v1/responses"): {"model": "auto", "input": []},
    ("POST", "/v1/conversations"): {"items": []},
    ("POST", "/v1/conversations/{openai_conversation_id}"): {"metadata": {"a": "taken over"}},
    ("POST", "/v1/conversations/{openai_conversation_id}/items"): {
        "items": [{"role": "user", "content": "taken over"}]
    },
    ("POST", "/v1/messages"): {"model": "auto", "messages": [], "max_tokens": 1},
    ("POST", "/v1/messages/count_tokens"): {"model": "auto", "messages": []},
    ("POST", "/v1/uploads"): UPLOAD,
    ("POST", "/v1/uploads/{upload_id}/complete"): {"part_ids": ["part_1"]},
    ("POST", "/v1/batches"): {
        "input_file_id": "file-1",
        "endpoint": "/v1/embeddings",
        "completion_window": "24h",
    },
    ("POST", "/v1/embeddings"): {"model": "auto", "input": ""},
    ("POST", "/v1/rerank"): {"model": "auto", "query": "x", "documents": []},
    ("POST", "/v1/moderations"): {"input": "hello"},
    ("POST", "/api/conversations"): {},
    ("POST", "/api/keys"): {"name": "x"},
    ("PATCH", "/api/me"): {},
    ("POST", "/api/me/terms"): {"versions": [1]},
    ("PUT", "/api/data-policy"): {
        "retention_days": None,
        "stores_api_calls": True,
        "allows_training": True,
    },
    ("PUT", "/api/data-policy/training"): {"allowed": True},
    ("POST", "/api/exports"): {"scope": "me"},
    ("POST", "/api/erasures/organization"): {"name": "x"},
    ("POST", "/api/me/reauthenticate"): {"password": "a long enough one 7"},
    ("POST", "/api/me/password"): {"password": "a long enough one 7"},
    ("POST", "/api/me/email"): {"email": "other@example.org"},
    ("PUT", "/api/me/totp"): {"code": "000000"},
    ("POST", "/api/me/passkeys"): {"credential": {}},
    ("POST", "/api/budgets"): {"amount": "5"},
    ("PUT", "/api/billing/plan"): {"plan": "free"},
    ("PATCH", "/api/billing/details"): {},
    ("POST", "/api/billing/top-ups"): {"amount": "5"},
    ("POST", "/api/appeals"): {"generation_id": "00000000-0000-4000-8000-000000000000"},
    ("PATCH", "/api/organization"): {"name": "taken over"},
    ("POST", "/api/organization/owner"): {"user_id": "00000000-0000-4000-8000-000000000000"},
    ("PATCH", "/api/organization/members/{user_id}"): {"role": "viewer"},
    ("POST", "/api/organization/members/{user_id}/remove"): {"chats": "keep", "keys": "revoke"},
    ("POST", "/api/organization/invitations"): {"role": "member"},
    ("POST", "/api/organization/domains"): {"domain": "example.org"},
    ("PATCH", "/api/organization/domains/{domain_id}"): {"join": "automatic"},
    ("POST", "/api/projects"): {"name": "x"},
    ("PATCH", "/api/projects/{project_id}"): {"name": "taken over"},
    ("POST", "/api/projects/{project_id}/members"): {
        "user_id": "00000000-0000-4000-8000-000000000000"
    },
    ("PATCH", "/api/projects/{project_id}/members/{user_id}"): {"role": "owner"},
    ("POST", "/api/projects/{project_id}/service-accounts"): {"name": "x"},
    ("PUT", "/api/projects/{project_id}/rate-limits/{model_id}"): {
        "requests_per_minute": 1,
        "tokens_per_minute": 1,
    },
    ("POST", "/v1/organization/users/{user_id}"): {"role": "reader"},
    ("POST", "/v1/organization/invites"): {"email": "a@example.org", "role": "reader"},
    ("POST", "/v1/organization/admin_api_keys"): {"name": "x"},
    ("POST", "/v1/organization/projects"): {"name": "x"},
    ("POST", "/v1/organization/projects/{project_id}"): {"name": "taken over"},
    ("POST", "/v1/organization/projects/{project_id}/users"): {
        "user_id": "00000000-0000-4000-8000-000000000000",
        "role": "member",
    },
    ("POST", "/v1/organization/projects/{project_id}/users/{user_id}"): {"role": "owner"},
    ("POST", "/v1/organization/projects/{project_id}/service_accounts"): {"name": "x"},
    ("POST", "/v1/organization/projects/{project_id}/rate_limits/{rate_limit_id}"): {},
    ("POST", "/api/me/invitations"): {"token": "none"},
    ("POST", "/api/webhooks"): {"url": "https://example.org/hook", "types": ["invoice.issued"]},
}
ABSENT = "00000000-0000-4000-8000-000000000000"
PUBLIC = {
    ("GET", "/api/shared/{token}"),
    ("GET", "/api/exports/download"),
    # Where an identity provider sends browsers, with what only it can sign (test_sso.py), or to
    # begin a sign-in of its own there (test_sso_by_provider.py).
    ("GET", "/api/auth/sso/oidc/callback"),
    ("GET", "/api/auth/sso/saml/finish"),
    ("GET", "/api/auth/sso/saml/{connection_id}/metadata"),
    ("POST", "/api/auth/sso/saml/{connection_id}/acs"),
    ("GET", "/api/auth/sso/saml/{connection_id}/logout"),
    ("GET", "/api/auth/sso/{connection_id}/start"),
    # A provider's events carry its signature: tests/billing/test_payments.py forges it.
    ("POST", "/api/payments/stripe"),
}
# Need a CSRF token, but no signed-in user.
BEFORE_SIGNING_IN = {
    ("POST", f"/api/auth/{path}")
    for path in (
        "login",
        "signup",
        "sso",
        "signup/confirm",
        "second-factor",
        "invitation",
        "passkey",
        "passkey/options",
        "password-reset",
        "password-reset/confirm",
        "address/confirm",
    )
}
# A person's own account: no key opens it, so a key finds nothing out about it either.
SESSION_ONLY = {
    ("DELETE", "/api/me/passkeys/{passkey_id}"),
    ("DELETE", "/api/me/sessions/{session_id}"),
    ("POST", "/api/announcements/{announcement_id}/dismiss"),
    ("POST", "/api/exports/{export_id}/link"),
}


@dataclass(frozen=True)
class Belongings:
    """One object of every kind, by the name of its path parameter."""

    owner: Person
    ids: dict[str, Any]


@pytest.fixture(scope="module")
def belongings(product) -> Iterator[Belongings]:
    owner = sign_up(product.url)
    browser = owner.browser
    upload = browser.post("/api/attachments", files={"file": ("a.txt", b"private text")})
    conversation_id = owner.new_conversation(title="Private")
    turn = browser.post(
        f"/api/conversations/{conversation_id}/messages", json={"content": "Hi", "max_tokens": 4}
    )
    assert turn.status_code == 200, turn.text
    ids = read_events(turn.text)[0].json["parley"]
    share = browser.post(f"/api/conversations/{conversation_id}/shares")
    budget = browser.post("/api/budgets", json={"amount": "5"})
    yield Belongings(
        owner,
        {
            "conversation_id": conversation_id,
            "message_id": ids["message_id"],
            "generation_id": ids["generation_id"],
            "share_id": share.json()["id"],
            "key_id": owner.new_key()["id"],
            "attachment_id": upload.json()["id"],
            "model_id": "auto",
            "response_id": new_response(owner, product.url),
            "completion_id": new_stored_chat(owner, product.url),
            **new_program_conversation(owner, product.url),
            **new_batch(owner, product.url),
            "budget_id": budget.json()["id"],
            # Nothing is issued or delivered here; tests/billing has foreign ones.
            "invoice_id": "1",
            "endpoint_id": ABSENT,
            "delivery_id": ABSENT,
            "kind": "pdf",
            "user_id": owner.me["user"]["id"],
            "invitation_id": owner.new_invitation()["id"],
            **new_project(browser),
            "rate_limit_id": "rl-smollm2-135m",
            "domain_id": new_domain(browser),
            "join_request_id": ABSENT,  # tests/accounts/test_domains.py has a foreign one
            "session_id": browser.get("/api/me/sessions").json()["data"][0]["id"],
            "export_id": browser.post("/api/exports", json={}).json()["id"],
            "announcement_id": "1",  # tests/accounts/test_operators.py has one of another plan
            # A passkey takes a browser; tests/api/test_passkeys.py has a foreign one.
            "passkey_id": "999999998",
        },
    )
    browser.close()


def new_domain(browser: Browser) -> str:
    added = browser.post("/api/organization/domains", json={"domain": "example.org"})
    return str(added.json()["id"])


def new_project(browser: Browser) -> dict[str, Any]:
    project = browser.post("/api/projects", json={"name": "Private"}).json()
    accounts = f"/api/projects/{project['id']}/service-accounts"
    account = browser.post(accounts, json={"name": "Private"}).json()
    return {"project_id": project["id"], "service_account_id": account["id"]}


def new_response(owner: Person, url: str) -> str:
    with program(url, owner.new_key()["secret"]) as client:
        body = {"model": "auto", "input": "Private", "max_output_tokens": 4}
        return str(client.post("/v1/responses", json=body).json()["id"])


def new_stored_chat(owner: Person, url: str) -> str:
    with program(url, owner.new_key()["secret"]) as client:
        body = {"model": "auto", "messages": [{"role": "user", "content": "Private"}]}
        asked = {**body, "max_tokens": 4, "store": True}
        return str(client.post("/v1/chat/completions", json=asked).json()["id"])


def new_program_conversation(owner: Person, url: str) -> dict[str, str]:
    """Of `/v1/conversations`, whose ids are those of `/api/conversations` with a prefix."""
    with program(url, owner.new_key()["secret"]) as client:
        items = [{"role": "user", "content": "Private"}]
        made = client.post("/v1/conversations", json={"items": items}).json()
        [item] = client.get(f"/v1/conversations/{made['id']}/items").json()["data"]
    return {"openai_conversation_id": str(made["id"]), "item_id": str(item["id"])}


def new_batch(owner: Person, url: str) -> dict[str, str]:
    """A file, an open upload and a batch."""
    with program(url, owner.new_key()["secret"]) as client:
        file = client.post("/v1/files", files={"file": ("a", b"{}")}, data={"purpose": "batch"})
        upload = client.post("/v1/uploads", json=UPLOAD)
        batch = client.post("/v1/batches", json=batch_of(file.json()["id"]))
        assert batch.status_code == 200, batch.text
    return {
        "file_id": file.json()["id"],
        "upload_id": upload.json()["id"],
        "batch_id": batch.json()["id"],
    }


def batch_of(file_id: str) -> dict[str, str]:
    return {
        "input_file_id": file_id,
        "endpoint": "/v1/embeddings",
        "completion_window": "24h",
    }


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


def _object_routes(operations: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [
        (method, path)
        for method, path in operations
        if "{" in path and not path.endswith("models/{model_id}") and (method, path) not in PUBLIC
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


def test_session_of_another_organization_finds_nothing(operations, belongings, other_user):
    for method, path in _object_routes(operations):
        url = path.format(**belongings.ids)
        answer = other_user.browser.request(method, url, json=BODIES.get((method, path)))
        takes_sessions = not path.startswith("/v1/")
        assert answer.status_code == (404 if takes_sessions else 401), (method, path, answer.text)


def test_key_of_another_organization_finds_nothing(product, operations, belongings, other_user):
    administers = other_user.new_key(scopes=["administration"])["secret"]
    with (
        program(product.url, other_user.new_key()["secret"]) as ordinary,
        program(product.url, administers) as administrator,
    ):
        for method, path in _object_routes(operations):
            url = path.format(**belongings.ids)
            client = administrator if path.startswith(_ADMINISTRATION) else ordinary
            answer = client.request(method, url, json=BODIES.get((method, path)))
            expected = 401 if (method, path) in SESSION_ONLY else 404
            assert answer.status_code == expected, (method, path, answer.text)


def test_foreign_id_is_answered_like_a_missing_one(operations, belongings, other_user):
    for method, path in _object_routes(operations):
        body = BODIES.get((method, path))
        name = path.partition("{")[2].partition("}")[0]
        unknown = "999999999" if str(belongings.ids[name]).isdigit() else ABSENT
        foreign = other_user.browser.request(method, path.format(**belongings.ids), json=body)
        absent = path.format(**{**belongings.ids, name: unknown})
        missing = other_user.browser.request(method, absent, json=body)
        answered = foreign.text.replace(str(belongings.ids[name]), unknown)
        assert (foreign.status_code, answered) == (missing.status_code, missing.text), (
            method,
            path,
        )


def test_rows_are_unchanged_after_foreign_requests(product, operations, belongings, other_user):
    """After all of the above: their things are as they were, and the lists of others are empty."""
    for method, path in _object_routes(operations):
        other_user.browser.request(
            method, path.format(**belongings.ids), json=BODIES.get((method, path))
        )
    browser, ids = belongings.owner.browser, belongings.ids
    conversation = browser.get(f"/api/conversations/{ids['conversation_id']}").json()
    assert conversation["title"] == "Private"
    assert len(conversation["messages"]) == 2
    assert all(message["feedback"] is None for message in conversation["messages"])
    assert browser.get(f"/api/attachments/{ids['attachment_id']}").content == b"private text"
    assert ids["key_id"] in [key["id"] for key in browser.get("/api/keys").json()["data"]]
    assert [share["id"] for share in browser.get("/api/shares").json()["data"]] == [ids["share_id"]]
    for path in (
        "/api/conversations",
        "/api/keys",
        "/api/budgets",
        "/api/shares",
        "/api/shares?scope=organization",
    ):
        for item in other_user.browser.get(path).json()["data"]:
            assert item["id"] not in ids.values()
    assert other_user.browser.get("/api/usage").json()["output_tokens"] == 0


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
    assert "private text" not in answer.text


# What only a key with the scope `administration` opens.
_ADMINISTRATION = (
    "/api/organization",
    "/api/projects",
    "/v1/organization/users",
    "/v1/organization/invites",
    "/v1/organization/admin_api_keys",
    "/v1/organization/projects",
)


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
    "/api/organization/ip-allow-list",
    "/api/organization/group-rules",
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
            if path.startswith(_ADMINISTRATION) and not path.startswith(_OWNERS_ONLY):
                url, body = path.format(**belongings.ids), BODIES.get((method, path))
                answer = client.request(method, url, json=body)
                # 401: what no key opens at all.
                assert answer.status_code in {401, 403}, (method, path, answer.text)
