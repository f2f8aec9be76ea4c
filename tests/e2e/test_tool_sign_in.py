"""Signing in at a tool server on the page: a manager, then a member, each as themself; and Stop."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.mcp_server import ToolServer
from tests.support.oauth_server import AuthorizationServer
from tests.support.scripted import ScriptedProduct

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture(scope="module")
def accounts() -> Iterator[AuthorizationServer]:
    server = AuthorizationServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def trips(accounts: AuthorizationServer) -> Iterator[ToolServer]:
    server = ToolServer(accounts, has_sessions=True)
    server.start()
    yield server
    server.stop()


def sign_in_there(page: Page, account: str, decision: str = "Allow") -> None:
    expect(page.get_by_role("heading", name="Trips Inc.")).to_be_visible()
    page.get_by_label("Account").fill(account)
    page.get_by_role("button", name=decision).click()


def call_unasked(page: Page, tool: str) -> None:
    """A manager's word; the server's own claim that it only reads is none."""
    asks = page.get_by_role("checkbox", name=f"Ask before {tool}")
    expect(asks).to_be_checked()
    asks.click()
    expect(asks).not_to_be_checked()


def test_person_connects_uses_loses_and_ends_their_sign_in(
    sign_up: SignUp,
    scripted_product: ScriptedProduct,
    accounts: AuthorizationServer,
    trips: ToolServer,
) -> None:
    scripted_product.says("You are known there.")
    person: Person = sign_up()
    page = person.page
    person.open("/organization/tools")
    page.get_by_role("textbox", name="Name").fill("Trips")
    page.get_by_role("textbox", name="URL").fill(trips.url)
    page.get_by_role("combobox", name="Who calls").select_option("oauth_person")
    expect(page.get_by_label("Bearer token")).to_be_hidden()
    keep_image(page, "new")
    page.get_by_role("button", name="Add the server").click()
    expect(page.get_by_text("Not connected.")).to_be_visible()

    page.get_by_role("button", name="Connect to Trips").click()
    sign_in_there(page, "ada@trips.example", "Deny")
    expect(page.get_by_text("The tool server's sign-in was refused.")).to_be_visible()
    expect(page.get_by_text("access_denied")).to_be_visible()
    page.get_by_text("access_denied").scroll_into_view_if_needed()
    keep_image(page, "refused")
    assert_accessible(page, "a refused sign-in")

    page.get_by_role("button", name="Connect again to Trips").click()
    sign_in_there(page, "ada@trips.example")
    expect(page.get_by_text("You are connected.")).to_be_visible()
    expect(page.get_by_text("Connected as ada@trips.example")).to_be_visible()
    page.get_by_role("button", name="Read its tools").click()
    page.get_by_role("checkbox", name="Allow whoami").click()
    expect(page.get_by_role("checkbox", name="Allow whoami")).to_be_checked()
    call_unasked(page, "whoami")
    page.get_by_text("Connected as").scroll_into_view_if_needed()
    keep_image(page, "connected")

    person.go("/settings")
    page.get_by_role("checkbox", name="Trips").click()
    expect(page.get_by_role("checkbox", name="Trips")).to_be_checked()
    expect(page.get_by_text("Connected as ada@trips.example")).to_be_visible()
    assert_accessible(page, "tools of a person")

    scripted_product.calls(("whoami", "{}"))
    person.go("/")
    person.composer.fill("Who am I there?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("You are known there.")).to_be_visible(timeout=60_000)
    page.get_by_role("list", name="Tool calls").get_by_text("whoami of Trips").click()
    expect(page.get_by_text("ada@trips.example")).to_be_visible()
    keep_image(page, "called")

    accounts.provider.end_all()
    person.go("/")
    person.composer.fill("And now?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("list", name="Tool calls")).to_contain_text("failed", timeout=60_000)
    person.open("/settings")
    expect(page.get_by_text("The sign-in has expired.")).to_be_visible()
    page.get_by_text("The sign-in has expired.").scroll_into_view_if_needed()
    keep_image(page, "expired")
    expect(page.get_by_role("button", name="Connect again to Trips")).to_be_visible()
    page.get_by_role("button", name="Disconnect from Trips").click()
    expect(page.get_by_text("Not connected.")).to_be_visible()
    # The authorization server's page is another site's.
    person.visitor.foreign_requests = [
        url for url in person.visitor.foreign_requests if not url.startswith(accounts.url)
    ]
    scripted_product.calls()


def add_server(person: Person, name: str, url: str, tool: str) -> str:
    """A server with one tool that models may call unasked; its id. On the page: test_tools.py."""
    path = "/api/organization/tool-servers"
    server: str = person.call("POST", path, {"name": name, "url": url})["id"]
    tools = person.call("POST", f"{path}/{server}/check")["tools"]
    rules = [
        {"name": one["name"], "allowed": True, "needs_approval": False}
        for one in tools
        if one["name"] == tool
    ]
    person.call("PATCH", f"{path}/{server}", {"tools": rules})
    return server


# What the page does with Stop: test_python_tool.py and frontend/src/chat/use-tool-stop.test.tsx.
@pytest.mark.nightly(
    beside="tests/api/test_tool_stop.py::test_stop_ends_the_turn_and_the_tool_hears_of_it"
)
def test_stop_ends_a_turn_whose_tool_runs(
    sign_up: SignUp,
    scripted_product: ScriptedProduct,
) -> None:
    server = ToolServer(has_sessions=True)
    server.start()
    scripted_product.says("All is well.")
    scripted_product.calls(("hang", "{}"))
    person: Person = sign_up(**PHONE)
    page = person.page
    slow = add_server(person, "Slow", server.url, "hang")
    person.call("PUT", f"/api/me/tools/{slow}", {"on": True})
    person.open("/")
    person.composer.fill("Look it up.")
    page.get_by_role("button", name="Send", exact=True).click()
    calls = page.get_by_role("list", name="Tool calls")
    expect(calls).to_contain_text("is called", timeout=60_000)
    keep_image(page, "running")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(calls).to_contain_text("stopped")
    assert_accessible(page, "a call that was stopped")
    keep_image(page, "stopped")
    page.reload()
    expect(calls).to_contain_text("stopped")
    scripted_product.calls()
    person.composer.fill("Never mind.")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("All is well.")).to_be_visible(timeout=60_000)
    assert server.cancelled == ["hang"]
    server.stop()
