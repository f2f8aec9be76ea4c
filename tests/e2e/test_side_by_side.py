"""Models side by side: chosen, asked once, one stopped, one chosen to go on with."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
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


def choose_models(person: Person, *names: str) -> None:
    names = names or ("Alder", "Birch")
    page = person.page
    page.get_by_role("button", name=re.compile("^Model:")).click()
    page.get_by_role("menuitem", name="Compare models").click()
    dialog = page.get_by_role("dialog", name="Compare models")
    expect(dialog.get_by_role("checkbox")).not_to_have_count(0)
    checked = dialog.get_by_role("checkbox", checked=True)
    while checked.count():
        checked.first.uncheck()
    expect(dialog.get_by_role("button", name="Compare", exact=True)).to_be_disabled()
    for name in names:
        dialog.get_by_role("checkbox", name=name).check()
    if len(names) > 2:
        assert_accessible(page, "the choice of models")
    dialog.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("button", name=f"Model: {len(names)} models")).to_be_visible()


def test_two_models_answer_side_by_side_one_again_and_the_chat_goes_on_with_one_as_of_three(
    sign_up: SignUp, upstreams: Upstreams
) -> None:
    person = sign_up()
    person.open("/")
    page = person.page
    upstreams["alder"].behaviour.refuse = (400, {"error": {"message": "Not today."}})
    says(upstreams["birch"], "Birches are **white**.")
    choose_models(person)
    person.composer.fill("Which tree is the most beautiful?")
    page.get_by_role("button", name="Send", exact=True).click()
    alder, birch = (page.get_by_role("article", name=name) for name in ("Alder", "Birch"))
    expect(birch).to_contain_text("Birches are white.")
    expect(birch.get_by_role("button", name="Continue with this answer")).to_be_visible()
    expect(birch).to_contain_text(re.compile(r"\d+ tokens read, \d+ written"))
    # The one that failed is asked again.
    again = alder.get_by_role("button", name="Try again")
    expect(again).to_be_enabled()
    upstreams["alder"].behaviour.refuse = None
    says(upstreams["alder"], LONG, rate=10)
    again.click()
    expect(alder).to_have_attribute("aria-busy", "true")
    expect(alder).to_contain_text("leaf3")
    assert_accessible(page, "two answers")
    boxes = [one.bounding_box() for one in (alder, birch)]
    assert boxes[0] and boxes[1] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    alder.get_by_role("button", name="Stop Alder").click()
    expect(alder).to_contain_text("You stopped this answer.")

    birch.get_by_role("button", name="Continue with this answer").click()
    expect(birch).to_be_hidden()
    expect(person.answer).to_contain_text("Birches are white.")
    expect(person.answer).to_contain_text(re.compile(r"Version \d/3"))
    expect(page.get_by_role("button", name="Model: Birch")).to_be_visible()
    assert [one["model"] for one in person.stored()] == [None, "birch"]
    assert len(person.stored()[-1]["siblings"]) == 3

    says(upstreams["birch"], "So are their branches.")
    person.composer.fill("And the branches?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("So are their branches.")
    assert upstreams["birch"].served[-1].body["messages"][-2]["content"].startswith("Birches")
    person.wait_for_the_end()

    page.set_viewport_size({"width": 390, "height": 844})
    person.go("/")
    more_stand_side_by_side_and_are_there_after_a_reload(person, upstreams, 3, "phone")


@pytest.mark.nightly(
    beside="tests/e2e/test_side_by_side.py"
    "::test_two_models_answer_side_by_side_one_again_and_the_chat_goes_on_with_one_as_of_three"
)
def test_four_models_stand_side_by_side_at_a_desk(sign_up: SignUp, upstreams: Upstreams) -> None:
    person = sign_up()
    person.open("/")
    more_stand_side_by_side_and_are_there_after_a_reload(person, upstreams, 4, "desktop")


def more_stand_side_by_side_and_are_there_after_a_reload(
    person: Person, upstreams: Upstreams, count: int, device: str
) -> None:
    page = person.page
    names = ("Alder", "Birch", "Cedar", "Elm")[:count]
    for name in names:
        says(upstreams[name.lower()], f"I am the {name}.")
    says(upstreams["birch"], LONG, rate=5)
    choose_models(person, *names)
    person.composer.fill("Which tree is the most beautiful?")
    page.get_by_role("button", name="Send", exact=True).click()
    columns = [page.get_by_role("article", name=name) for name in names]
    alder, birch, *others = columns
    for name, column in zip(names, columns, strict=True):
        if name != "Birch":
            expect(column).to_contain_text(f"I am the {name}.")
    expect(birch).to_contain_text("leaf3")
    assert_accessible(page, f"{count} answers on a {device}")
    keep_image(page, f"columns-{count}-{device}")
    assert_beside(columns, page, device)

    page.reload()
    for name, column in zip(names, columns, strict=True):
        if name != "Birch":
            expect(column).to_contain_text(f"I am the {name}.")
    expect(birch).to_have_attribute("aria-busy", "true")
    expect(birch).to_contain_text("leaf0")
    expect(page.get_by_text("Which tree is the most beautiful?")).to_have_count(1)
    assert_beside(columns, page, device)
    keep_image(page, f"columns-{count}-{device}-again")
    birch.get_by_role("button", name="Stop Birch").click()
    expect(birch).to_contain_text("You stopped this answer.")

    tab = person.visitor.new_tab()
    tab.goto(page.url)
    expect(tab.get_by_role("article", name=names[-1])).to_contain_text(names[-1])
    others[0].get_by_role("button", name="Continue with this answer").click()
    expect(alder).to_be_hidden()
    expect(person.answer).to_contain_text("I am the Cedar.")
    expect(tab.get_by_role("article", name="Alder")).to_be_hidden()
    assert len(person.stored()[-1]["siblings"]) == count


def assert_beside(columns: list[Locator], page: Page, device: str) -> None:
    """In a row; all of them in sight where there is room, else one after the other by swiping."""
    shown = page.get_by_role("region", name="Answers side by side").get_by_role("heading")
    expect(shown).to_have_text(["Alder", "Birch", "Cedar", "Elm"][: len(columns)])
    boxes = [column.bounding_box() for column in columns]
    for left, right in pairwise(boxes):
        assert left and right and left["x"] + left["width"] <= right["x"]
    first, last = boxes[0], boxes[-1]
    assert first and last and first["x"] >= 0
    width = page.evaluate("window.innerWidth")
    assert (last["x"] + last["width"] <= width) is (device == "desktop")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
