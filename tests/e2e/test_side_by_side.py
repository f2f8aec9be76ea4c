"""Models side by side: chosen, asked once, one stopped, one chosen to go on with."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.compared_models import compared_models, says
from tests.support.scripted import ScriptedProduct
from tests.support.upstream import UpstreamThread

Upstreams = dict[str, UpstreamThread]
LONG = " ".join(f"leaf{number}" for number in range(600))


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture(scope="module")
def upstreams(scripted_product: ScriptedProduct) -> Iterator[Upstreams]:
    with compared_models(scripted_product) as made:
        yield made


def choose_models(person: Person) -> None:
    page = person.page
    page.get_by_role("button", name=re.compile("^Model:")).click()
    page.get_by_role("menuitem", name="Compare models").click()
    dialog = page.get_by_role("dialog", name="Compare models")
    for box in dialog.get_by_role("checkbox", checked=True).all():
        box.uncheck()
    expect(dialog.get_by_role("button", name="Compare", exact=True)).to_be_disabled()
    for name in ("Alder", "Birch"):
        dialog.get_by_role("checkbox", name=name).check()
    assert_accessible(page, "the choice of models")
    dialog.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("button", name="Model: 2 models")).to_be_visible()


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_two_models_answer_side_by_side_and_the_chat_goes_on_with_one(
    sign_up: SignUp, upstreams: Upstreams, device: str
) -> None:
    person = sign_up(**(PHONE if device == "phone" else {}))
    person.open("/")
    page = person.page
    says(upstreams["alder"], LONG, rate=10)
    says(upstreams["birch"], "Birches are **white**.")
    choose_models(person)
    person.composer.fill("Which tree is the most beautiful?")
    page.get_by_role("button", name="Send", exact=True).click()
    alder, birch = (page.get_by_role("article", name=name) for name in ("Alder", "Birch"))
    expect(birch).to_contain_text("Birches are white.")
    expect(birch.get_by_role("button", name="Continue with this answer")).to_be_visible()
    expect(birch).to_contain_text(re.compile(r"\d+ tokens read, \d+ written"))
    expect(alder).to_have_attribute("aria-busy", "true")
    expect(alder).to_contain_text("leaf3")
    assert_accessible(page, f"two answers on a {device}")
    boxes = [one.bounding_box() for one in (alder, birch)]
    assert boxes[0] and boxes[1] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    alder.get_by_role("button", name="Stop Alder").click()
    expect(alder).to_contain_text("You stopped this answer.")

    birch.get_by_role("button", name="Continue with this answer").click()
    expect(birch).to_be_hidden()
    expect(person.answer).to_contain_text("Birches are white.")
    expect(person.answer).to_contain_text(re.compile(r"Version \d/2"))
    expect(page.get_by_role("button", name="Model: Birch")).to_be_visible()
    assert [one["model"] for one in person.stored()] == [None, "birch"]
    assert len(person.stored()[-1]["siblings"]) == 2

    says(upstreams["birch"], "So are their branches.")
    person.composer.fill("And the branches?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("So are their branches.")
    assert upstreams["birch"].served[-1].body["messages"][-2]["content"].startswith("Birches")


def test_model_that_fails_leaves_the_other_and_is_asked_again(
    sign_up: SignUp, upstreams: Upstreams
) -> None:
    person = sign_up()
    person.open("/")
    page = person.page
    upstreams["alder"].behaviour.refuse = (400, {"error": {"message": "Not today."}})
    says(upstreams["birch"], "Birches are white.")
    choose_models(person)
    person.composer.fill("Which tree is the most beautiful?")
    page.get_by_role("button", name="Send", exact=True).click()
    alder, birch = (page.get_by_role("article", name=name) for name in ("Alder", "Birch"))
    expect(birch).to_contain_text("Birches are white.")
    again = alder.get_by_role("button", name="Try again")
    expect(again).to_be_enabled()
    upstreams["alder"].behaviour.refuse = None
    says(upstreams["alder"], "Alders like water.")
    again.click()
    expect(alder).to_contain_text("Alders like water.")
    alder.get_by_role("button", name="Continue with this answer").click()
    expect(person.answer).to_contain_text("Alders like water.")
