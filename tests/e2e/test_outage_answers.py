"""A model ends under a chat: the same question gets its stored answer, and the page says so."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import SignUp, Visitor
from tests.support.compared_models import compared_models, end, says
from tests.support.scripted import ScriptedProduct
from tests.support.upstream import UpstreamThread

NOTE = "The model could not answer just then. This is the stored answer to the same question."


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture
def alder(scripted_product: ScriptedProduct) -> Iterator[UpstreamThread]:
    """Of a model by this name, which the test may end."""
    with compared_models(scripted_product) as upstreams:
        says(upstreams["alder"], "Seven hills.")
        yield upstreams["alder"]


# What the page says of it: frontend/src/chat/outage-note.test.tsx and model-outage.test.tsx.
@pytest.mark.nightly(
    beside="tests/api/test_outage_answers.py::test_stored_answer_is_given_when_the_model_has_ended"
)
def test_stored_answer_of_an_outage_is_shown_as_such(
    sign_up: SignUp, scripted_product: ScriptedProduct, alder: UpstreamThread
) -> None:
    person = sign_up()
    page = person.page
    rules = {"shares_running": True, "answer_cache": "exact", "answer_cache_s": 600}
    person.call("PUT", "/api/data-policy/reuse", {**rules, "reuses_sampled": True})
    person.open("/")
    page.get_by_role("button", name=re.compile("^Model:")).click()
    page.get_by_role("menuitemradio", name=re.compile("Alder")).click()
    person.say("How many hills has Rome?")
    expect(person.answer).to_contain_text("Seven hills.")
    person.wait_for_the_end()
    expect(page.get_by_text(NOTE)).to_be_hidden()

    end(scripted_product, "alder", alder)
    person.open("/")
    expect(page.get_by_text("Alder can't answer at the moment")).to_be_visible()
    person.say("How many hills has Rome?")
    expect(person.answer).to_contain_text("Seven hills.")
    person.wait_for_the_end()
    expect(person.answer).to_contain_text(NOTE)
    assert_accessible(page, "a stored answer in an outage")
    keep_image(page, "stored")
    page.reload()
    expect(person.answer).to_contain_text(NOTE)
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    sent = page.get_by_role("dialog", name="What was sent")
    expect(sent).to_contain_text("while the model could not answer")
    page.keyboard.press("Escape")

    person.visitor.expect_status(503)
    person.go("/")
    person.say("How many rivers has Rome?")
    expect(page.get_by_text("Parley is busy")).to_be_visible()
