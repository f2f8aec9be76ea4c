"""A tool's journey in the browser, with the real engine and the default model."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.test_python_tool import LONG_MS, output, switch_on
from tests.e2e.users import SignUp
from tests.support.calling_engine import MODEL, CallingEngine, calling_model
from tests.support.engine import Engine
from tests.support.product import Product

pytestmark = pytest.mark.model


@pytest.fixture
def engine(live_product: Product, model_engine: Engine) -> Iterator[CallingEngine]:
    with calling_model(live_product, model_engine) as running:
        yield running


def test_program_waits_over_reload_runs_and_is_answered(
    sign_up: SignUp, engine: CallingEngine
) -> None:
    engine.calls("python", code="print(6 * 7)")
    person = sign_up()
    page = person.page
    switch_on(person)
    chat = person.call("POST", "/api/conversations", {"title": "Sums", "model": MODEL})["id"]
    approval = page.get_by_role("group", name="Allow Python?")

    person.open(f"/c/{chat}")
    person.say("What is 6 * 7?")
    expect(approval).to_be_visible(timeout=LONG_MS)
    page.reload()
    approval.get_by_role("button", name="Allow once").click(timeout=LONG_MS)

    expect(output(page)).to_contain_text("42", timeout=LONG_MS)
    person.wait_for_the_end()
    roles = [message["role"] for message in person.stored()]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert person.stored()[-1]["status"] == "completed"

    person.say("Again, please.")
    expect(approval).to_be_visible(timeout=LONG_MS)
    approval.get_by_role("button", name="Deny").click()
    person.wait_for_the_end()
    assert person.stored()[-1]["status"] == "completed"
