"""`/ws/events`: only our own page, only the signed-in user's own events."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest
import websockets
from websockets.typing import Origin

from tests.api.people import Browser, Person

pytestmark = pytest.mark.model


def connect(url: str, cookies: dict[str, str], origin: str | None):
    parts = urlsplit(url)
    header = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return websockets.connect(
        f"ws://{parts.netloc}/ws/events",
        additional_headers={"Cookie": header},
        origin=Origin(origin) if origin else None,
    )


def tab(product, someone: Person, web: int = 0):
    url = product.webs[web].url
    return connect(url, dict(someone.browser.cookies), url)


async def changed(socket, conversation_id: str) -> dict:
    async with asyncio.timeout(60):
        while True:
            event = json.loads(await socket.recv())
            if event.get("conversation_id") == conversation_id:
                return event


async def test_a_change_reaches_the_tabs_at_every_process(product, new_person):
    someone = new_person()
    async with tab(product, someone) as one, tab(product, someone, web=-1) as other:
        conversation_id = await asyncio.to_thread(someone.new_conversation)
        for socket in (one, other):
            event = await changed(socket, conversation_id)
            assert event == {"type": "conversation.changed", "conversation_id": conversation_id}


async def test_nothing_of_others_arrives(product, new_person):
    someone, other = new_person(), new_person()
    async with tab(product, someone) as socket:
        await asyncio.to_thread(other.new_conversation)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await socket.recv()


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", None, "null"])
async def test_another_origin_is_refused(product, new_person, origin):
    someone = new_person()
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        async with connect(product.url, dict(someone.browser.cookies), origin):
            pass
    assert refusal.value.response.status_code == 403


async def test_without_a_session_it_is_closed_with_a_reason(product):
    browser = Browser(product.url)
    async with connect(product.url, dict(browser.cookies), product.url) as socket:
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def test_signing_out_closes_the_sessions_other_tabs(product, new_person):
    someone = new_person()
    async with tab(product, someone, web=-1) as socket:
        await asyncio.to_thread(someone.browser.post, "/api/auth/logout")
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            async with asyncio.timeout(60):
                await socket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def test_another_path_is_no_socket(product, new_person):
    someone = new_person()
    parts = urlsplit(product.url)
    with pytest.raises(websockets.exceptions.InvalidStatus):
        async with websockets.connect(f"ws://{parts.netloc}/ws/other", origin=Origin(product.url)):
            pass
    assert someone.browser.get("/api/me").status_code == 200
