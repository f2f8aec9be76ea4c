"""`/ws/events`: only our own page, only the signed-in user's own events."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest
import websockets
from websockets.typing import Origin

from tests.api.users import Browser, Person

pytestmark = pytest.mark.model


def connect(url: str, cookies: dict[str, str], origin: str | None):
    parts = urlsplit(url)
    header = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return websockets.connect(
        f"ws://{parts.netloc}/ws/events",
        additional_headers={"Cookie": header},
        origin=Origin(origin) if origin else None,
    )


def tab(product, user: Person, web: int = 0):
    url = product.webs[web].url
    return connect(url, dict(user.browser.cookies), url)


async def changed(socket, conversation_id: str) -> dict:
    async with asyncio.timeout(60):
        while True:
            event = json.loads(await socket.recv())
            if event.get("conversation_id") == conversation_id:
                return event


async def test_change_reaches_sockets_of_every_process(product, new_person):
    user = new_person()
    async with tab(product, user) as one, tab(product, user, web=-1) as other:
        conversation_id = await asyncio.to_thread(user.new_conversation)
        for socket in (one, other):
            event = await changed(socket, conversation_id)
            assert event == {"type": "conversation.changed", "conversation_id": conversation_id}


async def test_socket_gets_no_events_of_other_users(product, new_person):
    user, other = new_person(), new_person()
    async with tab(product, user) as socket:
        await asyncio.to_thread(other.new_conversation)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await socket.recv()


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", None, "null"])
async def test_socket_from_another_origin_is_refused(product, new_person, origin):
    user = new_person()
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        async with connect(product.url, dict(user.browser.cookies), origin):
            pass
    assert refusal.value.response.status_code == 403


async def test_socket_is_closed_with_a_reason_when_there_is_no_session(product):
    browser = Browser(product.url)
    async with connect(product.url, dict(browser.cookies), product.url) as socket:
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            async with asyncio.timeout(60):
                await socket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def test_sign_out_closes_all_sockets_of_the_session(product, new_person):
    user = new_person()
    async with tab(product, user, web=-1) as socket:
        await asyncio.to_thread(user.browser.post, "/api/auth/logout")
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            async with asyncio.timeout(60):
                await socket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def test_socket_on_an_unknown_path_is_refused(product, new_person):
    user = new_person()
    parts = urlsplit(product.url)
    with pytest.raises(websockets.exceptions.InvalidStatus):
        async with websockets.connect(f"ws://{parts.netloc}/ws/other", origin=Origin(product.url)):
            pass
    assert user.browser.get("/api/me").status_code == 200


async def test_socket_takes_no_long_message(product, new_person):
    async with tab(product, new_person()) as socket:
        await socket.send("x" * 5_000)
        with pytest.raises(websockets.ConnectionClosedError) as closed:
            async with asyncio.timeout(60):
                await socket.recv()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
