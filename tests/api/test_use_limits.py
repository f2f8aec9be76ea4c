"""What costs work and is covered by no plan's limit: unknown keys, moderations, uploads, searches;
and what only the installation's own network may read."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from backend.accounts import authentication
from backend.accounts.keys import secret_generate
from backend.api import health, throttling
from backend.api.throttling import UNSEEN_KEYS_PER_ADDRESS, AttemptLimit
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of

database = pytest.mark.usefixtures("transactional_db")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that PostgreSQL was asked about."""
    asked: list[str] = []
    original = authentication._load

    def counted(sha256: str, *rest: Any) -> Any:
        asked.append(sha256)
        return original(sha256, *rest)

    monkeypatch.setattr(authentication, "_load", counted)
    return asked


def with_key(secret: str, address: str = "198.51.100.7") -> AsgiClient:
    return AsgiClient(address, headers={"Authorization": f"Bearer {secret}"})


@database
async def test_unknown_key_is_looked_up_once_when_sent_many_times(loads: list[str]) -> None:
    async with with_key(secret_generate()) as caller:
        statuses = {(await caller.get("/v1/models")).status_code for _ in range(20)}
    assert statuses == {401}
    assert len(loads) == 1


@database
async def test_address_is_refused_before_lookup_after_many_unknown_keys(loads: list[str]) -> None:
    _, used_before = await in_database(api_key_of)
    _, new = await in_database(api_key_of)
    async with with_key(used_before) as known:
        assert (await known.get("/v1/models")).status_code == 200
    loads.clear()

    allowed = UNSEEN_KEYS_PER_ADDRESS.attempts - 1  # the right key counted once
    answers = []
    for _ in range(allowed + 20):
        async with with_key(secret_generate()) as caller:
            answers.append(await caller.get("/v1/models"))
    assert [a.status_code for a in answers] == [401] * allowed + [429] * 20
    assert len(loads) == allowed
    assert answers[-1].json()["error"]["type"] == "rate_limit_error"
    assert int(answers[-1].headers["Retry-After"]) > 0

    # Neighbours whose key has been used before go on; so does everybody elsewhere.
    await asyncio.sleep(0)
    async with with_key(used_before) as known, with_key(new, "203.0.113.5") as elsewhere:
        assert (await known.get("/v1/models")).status_code == 200
        assert (await elsewhere.get("/v1/models")).status_code == 200


@pytest.fixture
def three_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "USES", dict.fromkeys(throttling.USES, AttemptLimit(3, 60)))


async def use(caller: AsgiClient, name: str) -> Any:
    if name == "moderations":
        return await caller.post("/v1/moderations", json={"input": "Hello"})
    if name == "uploads":
        return await caller.post("/api/attachments", files={"file": ("a.txt", b"Hello")})
    return await caller.get("/api/conversations", params={"search": "hello"})


@database
@pytest.mark.usefixtures("three_a_minute")
@pytest.mark.parametrize("name", ["moderations", "uploads", "searches"])
async def test_use_is_limited_by_user_and_by_address(name: str) -> None:
    secrets = [(await in_database(api_key_of))[1] for _ in range(6)]
    async with with_key(secrets[0]) as caller:
        answers = [await use(caller, name) for _ in range(4)]
        assert [a.is_error for a in answers] == [False] * 3 + [True]
        assert answers[-1].status_code == 429
        assert answers[-1].json()["error"]["code"] == "rate_limit_exceeded"
        assert int(answers[-1].headers["Retry-After"]) > 0
    statuses = []
    for secret in secrets[1:]:  # others at that address, which has 3 x 4
        async with with_key(secret) as caller:
            statuses += [(await use(caller, name)).status_code for _ in range(2)]
    assert statuses[:8].count(429) == 0 and statuses[9] == 429
    async with with_key(secrets[0], "203.0.113.5") as same_user_elsewhere:
        assert (await use(same_user_elsewhere, name)).status_code == 429
    async with with_key(secrets[5], "203.0.113.5") as other_user_elsewhere:
        assert (await use(other_user_elsewhere, name)).is_error is False


@pytest.fixture
def internal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    health._internal_networks.cache_clear()
    monkeypatch.setattr(settings, "INTERNAL_NETWORKS", "10.20.0.0/16")
    monkeypatch.setattr(settings, "METRICS_TOKEN", "a-long-token")
    yield
    health._internal_networks.cache_clear()


@pytest.mark.usefixtures("services", "internal")
@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
@pytest.mark.parametrize(
    ("address", "headers", "allowed"),
    [
        ("198.51.100.7", {}, False),
        ("127.0.0.1", {}, True),
        ("::1", {}, True),
        ("10.20.3.4", {}, True),
        ("10.21.3.4", {}, False),
        ("198.51.100.7", {"Authorization": "Bearer a-long-token"}, True),
        ("198.51.100.7", {"Authorization": "Bearer another"}, False),
        ("198.51.100.7", {"Authorization": "Basic a-long-token"}, False),
        # By a proxy on this machine that no setting names: it may forward anybody.
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, False),
    ],
)
async def test_readyz_and_metrics_answer_internal_networks_and_token_only(
    path: str, address: str, headers: dict[str, str], allowed: bool
) -> None:
    async with AsgiClient(address) as caller:
        answer = await caller.get(path, headers=headers)
    assert (answer.status_code != 403) is allowed
    if not allowed:
        assert answer.json()["error"]["code"] == "permission_denied"
    assert (await AsgiClient(address).get("/healthz")).status_code == 200


@pytest.mark.usefixtures("services")
async def test_metrics_are_refused_when_token_is_unset() -> None:
    async with AsgiClient() as caller:
        for shown in ("Bearer ", "Bearer", ""):
            answer = await caller.get("/metrics", headers={"Authorization": shown})
            assert answer.status_code == 403
