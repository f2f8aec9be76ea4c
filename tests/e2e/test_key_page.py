"""A developer's first minutes: a key, code that works as it is pasted, and what became of it."""

import os
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, copied

FRONTEND = Path(__file__).parents[2] / "frontend"
POLICY = {"retention_days": None, "stores_api_calls": True, "allows_training": True}


def pasted(page: Page, language: str) -> str:
    page.get_by_role("radio", name=language, exact=True).click()
    return copied(page, page.get_by_role("button", name="Copy code"))


def run(*command: str, text: str | None = None) -> str:
    """What a program prints that has no key of its own to find."""
    own = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    ran = subprocess.run(
        command, input=text, env=own, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def wait_until_logged(person: Person, requests: int) -> None:
    """Logs are written behind the answers; the page reads them once."""
    ends_at = time.monotonic() + 60
    while len(person.call("GET", "/api/request-logs")["data"]) < requests:
        assert time.monotonic() < ends_at, "the requests were not logged"
        time.sleep(0.1)


def test_quickstart_works_as_pasted_and_its_requests_can_be_looked_at(sign_up: SignUp) -> None:
    person = sign_up()
    page = person.page
    person.call("PUT", "/api/data-policy", {**POLICY, "logs_requests": True})
    person.open("/keys")
    page.get_by_role("button", name="Create key").first.click()
    page.get_by_role("textbox", name="Name").fill("First steps")
    page.get_by_role("dialog").get_by_role("button", name="Create key").click()
    expect(page.get_by_role("heading", name="Quickstart")).to_be_visible()
    assert_accessible(page, "the new key")

    assert "ChatCompletionMessage(content=" in run(sys.executable, "-", text=pasted(page, "Python"))
    assert '"object":"chat.completion"' in run("bash", "-c", pasted(page, "curl"))
    program = FRONTEND / ".quickstart.mjs"  # beside node_modules, where `openai` is found
    try:
        program.write_text(pasted(page, "TypeScript"))
        assert "role: 'assistant'" in run("node", str(program))
    finally:
        program.unlink(missing_ok=True)

    wait_until_logged(person, 3)
    page.get_by_role("button", name="Done").click()
    page.get_by_role("link", name="First steps").click()
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    expect(page.get_by_role("region", name="Rate limits")).to_contain_text("left")
    expect(page.get_by_text("Logged, encrypted, and kept for 30 days.")).to_be_visible()
    requests = page.get_by_role("list", name="Requests").get_by_role("listitem")
    expect(requests).to_have_count(3)
    assert_accessible(page, "the key's page")

    page.get_by_role("searchbox", name="Search requests").fill("nobody said this")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing was found.")).to_be_visible()
    page.get_by_role("searchbox", name="Search requests").fill("say HELLO")
    page.keyboard.press("Enter")
    expect(requests).to_have_count(3)
    requests.first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Request")
    expect(dialog.get_by_role("region", name="Asked")).to_contain_text("Say hello.")
    expect(dialog.get_by_role("region", name="Answered")).to_contain_text("chat.completion")
    dialog.get_by_role("button", name="Replay").click()
    expect(dialog.get_by_text("In all")).to_be_visible()
    assert_accessible(page, "a request")
    page.keyboard.press("Escape")

    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Delete logged requests").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Nothing was found.")).to_be_visible()
