"""Streams and sockets end when whoever opened them loses access."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory
from django.utils import timezone

from backend.accounts.access import Access, access_ended
from backend.accounts.authentication import plan_limits
from backend.accounts.models import APIKey, Membership, Organization, User
from backend.accounts.principal import Principal
from backend.accounts.services import api_key_end, user_active_set
from backend.api import access_watch, websocket
from backend.api.authentication import BearerKey
from backend.api.sse import PING, EventStreamResponse, access_of, event_stream
from backend.api.websocket import (
    NOT_ALLOWED,
    NOT_SIGNED_IN,
    TOO_MANY_SOCKETS,
    websocket_application,
)
from backend.enterprise.gate import GATE_TTL_S, Door
from backend.enterprise.models import AllowedNetwork
from backend.enterprise.networks import Allowed, networks_set
from backend.generation.request import DONE, Event
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.api.event_stream import read_events
from tests.factories import api_key_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")

PROMISED_S = 10.0


def test_check_interval_is_below_the_promised_delay() -> None:
    assert access_watch.CHECK_INTERVAL_S + GATE_TTL_S < PROMISED_S - 1


@pytest.fixture(autouse=True)
def frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_watch, "CHECK_INTERVAL_S", 0.1)


def deactivate(principal: Principal) -> None:
    user_active_set(user=User.objects.get(pk=principal.user_id), is_active=False)


def revoke(principal: Principal) -> None:
    assert principal.key_id is not None
    api_key_end(key=APIKey.objects.get(pk=principal.key_id))


def expire(principal: Principal) -> None:
    assert principal.key_id is not None
    APIKey.objects.filter(pk=principal.key_id).update(expires_at=timezone.now())


def leave(principal: Principal) -> None:
    Membership.objects.filter(
        user_id=principal.user_id, organization_id=principal.organization_id
    ).delete()


def key_principal() -> Principal:
    key, _ = api_key_of()
    return Principal(
        organization_id=key.organization_id,
        project_id=key.project_id,
        user_id=key.created_by_id,
        key_id=key.pk,
        role="owner",
        plan=plan_limits(Organization.objects.get(pk=key.organization_id).plan),
    )


@pytest.mark.parametrize(
    ("opened", "event"),
    [
        (member, deactivate),
        (member, leave),
        (key_principal, deactivate),
        (key_principal, leave),
        (key_principal, revoke),
        (key_principal, expire),
    ],
)
async def test_stream_ends_when_its_readers_access_ends(
    opened: Callable[[], Principal], event: Callable[[Principal], None]
) -> None:
    principal, other = await in_database(opened), await in_database(key_principal)
    closed = asyncio.Event()

    async def events() -> AsyncGenerator[Event]:
        try:
            for n in range(1, 10**9):
                yield Event(n, b'{"n":1}')
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    stream = event_stream(events(), reader=access_of(principal))
    others = event_stream(events(), reader=access_of(other))
    await anext(stream)
    await anext(others)
    await asyncio.sleep(0.3)
    await anext(stream)  # checked meanwhile, and still open

    await in_database(event, principal)
    body = b"".join([part async for part in stream])
    assert closed.is_set()
    *_, error, done = read_events(body)
    assert error.json["error"]["code"] == "access_ended"
    assert done.data == DONE.decode()
    await anext(others)
    await others.aclose()


async def test_silent_stream_ends_when_its_readers_access_ends() -> None:
    principal = await in_database(key_principal)

    async def events() -> AsyncGenerator[Event]:
        await asyncio.Event().wait()
        yield Event(1, DONE)

    stream = event_stream(events(), reader=access_of(principal))
    reading = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.05)
    await in_database(revoke, principal)
    assert b"access_ended" in await asyncio.wait_for(reading, PROMISED_S)
    await stream.aclose()


@pytest.mark.parametrize("opened", [member, key_principal])
async def test_stream_follows_the_networks_of_its_organization(
    opened: Callable[[], Principal],
) -> None:
    principal = await in_database(opened)

    async def events() -> AsyncGenerator[Event]:
        await asyncio.Event().wait()
        yield Event(1, DONE)

    def stream_to(address: str) -> AsyncGenerator[bytes]:
        door = Door(principal, address, None)
        return event_stream(events(), 0.05, reader=access_of(principal), door=door)

    inside, outside = stream_to("203.0.113.7"), stream_to("198.51.100.7")
    assert await anext(inside) == await anext(outside) == PING
    # Another process changes the list: what this one remembers of it has to lapse first.
    await in_database(
        AllowedNetwork.objects.create,
        organization_id=principal.organization_id,
        cidr="203.0.113.0/24",
    )
    async with asyncio.timeout(PROMISED_S):
        body = b"".join([part async for part in outside])
    *_, error, done = read_events(body)
    assert error.json["error"]["code"] == "ip_not_allowed"
    assert done.data == DONE.decode()
    assert await anext(inside) == PING
    await inside.aclose()


async def test_streamed_answer_is_watched_at_the_door_of_its_request() -> None:
    """The response is made as routes make it, from a request that came in by a key."""
    owner = await in_database(member)
    _, secret = await in_database(api_key_of, owner)
    request: Any = RequestFactory().get(
        "/", REMOTE_ADDR="198.51.100.7", headers={"Authorization": f"Bearer {secret}"}
    )
    request.auth = await BearerKey()(request)

    async def events() -> AsyncGenerator[Event]:
        await asyncio.Event().wait()
        yield Event(1, DONE)

    response = EventStreamResponse(events(), headers={}, request=request)
    reading = asyncio.ensure_future(anext(aiter(response)))
    await asyncio.sleep(0.05)
    await in_database(
        networks_set,
        principal=owner,
        networks=[Allowed("203.0.113.0/24")],
        address="203.0.113.1",
    )
    assert b"ip_not_allowed" in await asyncio.wait_for(reading, PROMISED_S)


def signed_in(principal: Principal) -> str:
    """The key of a new session of the user."""
    client = Client()
    client.force_login(User.objects.get(pk=principal.user_id))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


async def test_session_ends_with_its_longest_life(settings: Any) -> None:
    assert settings.SESSION_COOKIE_AGE == 14 * 24 * 3600
    principal = await in_database(member)
    lasting = await in_database(signed_in, principal)
    settings.SESSION_COOKIE_AGE = 1
    short = await in_database(signed_in, principal)
    await asyncio.sleep(1.1)
    for cookie, status in ((lasting, 200), (short, 401)):
        async with AsgiClient(cookies={settings.SESSION_COOKIE_NAME: cookie}) as browser:
            assert (await browser.get("/api/me")).status_code == status


class Socket(ApplicationCommunicator):
    """A browser's socket; channels' own helper needs daphne."""

    def __init__(self, session_key: str, address: str) -> None:
        headers = [
            (b"host", b"localhost"),
            (b"origin", b"http://localhost"),
            (b"cookie", f"{settings.SESSION_COOKIE_NAME}={session_key}".encode()),
        ]
        scope = {"type": "websocket", "path": "/ws/events", "headers": headers, "query_string": b""}
        scope["client"] = [address, 40_000]
        super().__init__(websocket_application, scope)

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=10)


async def open_socket(session_key: str, address: str = "198.51.100.7") -> Socket:
    socket = Socket(session_key, address)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(timeout=10))["type"] == "websocket.accept"
    return socket


def change_password(principal: Principal) -> None:
    user = User.objects.get(pk=principal.user_id)
    user.set_unusable_password()
    user.save()


def lapse(principal: Principal) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("event", [deactivate, leave, change_password, lapse])
async def test_socket_is_closed_when_its_user_or_session_ends(
    event: Callable[[Principal], None],
) -> None:
    principal = await in_database(member)
    socket = await open_socket(await in_database(signed_in, principal))
    assert await socket.receive_nothing(timeout=0.3)
    await in_database(event, principal)
    output = await socket.receive_output(timeout=PROMISED_S)
    assert (output["type"], output["code"]) == ("websocket.close", NOT_SIGNED_IN)
    await socket.disconnect()


async def test_socket_follows_the_networks_of_its_organization() -> None:
    owner = await in_database(member)
    session = await in_database(signed_in, owner)
    socket = await open_socket(session)
    assert await socket.receive_nothing(timeout=0.3)
    inside_only = [Allowed("203.0.113.0/24")]
    await in_database(networks_set, principal=owner, networks=inside_only, address="203.0.113.1")
    output = await socket.receive_output(timeout=PROMISED_S)
    assert (output["type"], output["code"]) == ("websocket.close", NOT_ALLOWED)
    outside = await open_socket(session)
    assert (await outside.receive_output(timeout=10))["code"] == NOT_ALLOWED
    inside = await open_socket(session, address="203.0.113.7")
    assert await inside.receive_nothing(timeout=0.3)
    for one in (socket, outside, inside):
        await one.disconnect()


async def test_sockets_of_one_user_are_capped_and_a_closed_one_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket, "MAX_SOCKETS_PER_USER", 2)
    one, other = await in_database(member), await in_database(member)
    session = await in_database(signed_in, one)
    sockets = [await open_socket(session) for _ in range(2)]
    refused = await open_socket(session)
    assert (await refused.receive_output(timeout=10))["code"] == TOO_MANY_SOCKETS
    neighbour = await open_socket(await in_database(signed_in, other))
    assert await neighbour.receive_nothing()
    await sockets.pop().disconnect()
    sockets.append(await open_socket(session))
    assert await sockets[-1].receive_nothing()
    for socket in (*sockets, neighbour):
        await socket.disconnect()


def test_check_takes_four_queries_for_any_number_of_streams(
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    watched = [access_of(key_principal()) for _ in range(5)]
    watched += [Access(access.user_id, session_key="gone") for access in watched]
    with django_assert_num_queries(4):
        assert access_ended(watched) == set(watched[5:])


async def test_session_stays_ended_after_lock_and_unlock() -> None:
    user = await in_database(lambda: User.objects.get(pk=member(password="a long one 7").user_id))
    async with AsgiClient() as client:
        await client.get("/login")
        await client.sign_in(user.email, "a long one 7")
        assert (await client.get("/api/me")).status_code == 200
        for is_active in (False, True):
            await in_database(user_active_set, user=user, is_active=is_active)
            assert (await client.get("/api/me")).status_code == 401
