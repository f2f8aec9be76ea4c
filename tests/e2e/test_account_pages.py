"""API keys, usage, themes."""

import re

import httpx
from playwright.sync_api import expect

from tests.e2e.users import Person, SignUp, copied


def test_key_is_shown_once_works_and_is_revoked(sign_up: SignUp) -> None:
    person = sign_up()
    person.open("/keys")
    person.page.get_by_role("button", name="Create key").first.click()
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Nightly report")
    dialog.get_by_role("button", name="Create key").click()
    secret = dialog.get_by_role("textbox", name="Secret key").input_value()
    assert re.fullmatch(r"sk-parley-[0-9A-Za-z]{40,}", secret)
    assert copied(person.page, dialog.get_by_role("button", name="Copy key")) == secret
    dialog.get_by_role("button", name="Done").click()

    expect(person.page.get_by_text("Nightly report")).to_be_visible()
    assert secret not in person.page.content()
    models = f"{person.visitor.url}/v1/models"
    headers = {"Authorization": f"Bearer {secret}"}
    assert httpx.get(models, headers=headers).status_code == 200

    person.page.get_by_role("button", name="Revoke Nightly report").click()
    person.page.get_by_role("button", name="Revoke key").click()
    expect(person.page.get_by_text("There are no keys yet.")).to_be_visible()
    assert httpx.get(models, headers=headers).status_code == 401


def test_usage_page_shows_the_ledgers_figures(person: Person) -> None:
    person.ask()
    person.go("/usage")
    expect(person.page.get_by_role("heading", name="Usage")).to_be_visible()
    used = person.call("GET", "/api/usage?period=last_30_days")
    assert used["output_tokens"] > 0
    output = person.page.locator("dl > div").filter(has_text="Output tokens")
    expect(output.locator("dd")).to_have_text(f"{used['output_tokens']:,}")
    expect(person.page.locator(".recharts-bar-rectangle path").first).to_be_visible()

    person.page.get_by_role("radio", name="Model").click()
    table = person.page.get_by_role("table")
    expect(table.get_by_role("rowheader")).to_have_text(re.compile("smollm2", re.IGNORECASE))
    person.page.get_by_role("combobox", name="Period").select_option("last_30_days")
    expect(table.get_by_role("rowheader")).to_have_text(re.compile("smollm2", re.IGNORECASE))


def test_name_is_changed_and_theme_is_stored_and_follows_the_system(sign_up: SignUp) -> None:
    person = sign_up()
    root = person.page.locator("html")
    person.page.emulate_media(color_scheme="dark")
    person.open("/settings")
    expect(root).to_have_attribute("data-theme", "dark")
    person.page.get_by_label("Name").fill("Augusta King")
    person.page.get_by_role("button", name="Save", exact=True).click()
    expect(person.page.get_by_role("button", name="Account of Augusta King")).to_be_visible()
    assert person.call("GET", "/api/me")["user"]["name"] == "Augusta King"
    person.page.get_by_role("radio", name="Light").click()
    expect(root).to_have_attribute("data-theme", "light")
    person.page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    person.page.get_by_role("radio", name="System").click()
    expect(root).to_have_attribute("data-theme", "dark")
