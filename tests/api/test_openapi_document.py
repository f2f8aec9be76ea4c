"""The OpenAPI document is built once, however often it is read."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from backend.api.application import api
from backend.api.openapi import ParleyAPI
from tests.api.asgi_client import AsgiClient

pytestmark = pytest.mark.usefixtures("transactional_db")

PATH = "/openapi.json"


@pytest.fixture
async def anybody() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


async def test_document_is_built_once(anybody: AsgiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    build = ParleyAPI.get_openapi_schema

    def counted(self: ParleyAPI, *args: Any, **kwargs: Any) -> Any:
        built.append(self)
        return build(self, *args, **kwargs)

    monkeypatch.setattr(ParleyAPI, "get_openapi_schema", counted)
    monkeypatch.setattr(api, "_document", None)
    answers = [await anybody.get(PATH) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert answers[0].json()["paths"] == answers[2].json()["paths"]
    assert len(built) == 1


async def test_known_document_is_not_sent_again(anybody: AsgiClient) -> None:
    first = await anybody.get(PATH)
    again = await anybody.get(PATH, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await anybody.get(PATH, headers={"If-None-Match": '"another"'})
    assert (other.status_code, other.content) == (200, first.content)


async def test_head_names_the_same_document(anybody: AsgiClient) -> None:
    whole, head = await anybody.get(PATH), await anybody.head(PATH)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == whole.headers["etag"]


async def test_document_takes_no_body(anybody: AsgiClient) -> None:
    await anybody.get("/")
    assert (await anybody.post(PATH)).status_code == 405
