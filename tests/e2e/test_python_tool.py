"""Python as a tool of the model: its person allows a program, watches it, ends it, leaves."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_python import ATTEMPTS, hostile, reported
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

LONG_MS = 60_000
PLOT = """
rows = [line.split(",") for line in open("points.csv").read().split()]
print("rows:", len(rows))
line = " ".join(f"{10 * int(x)},{100 - 10 * int(y)}" for x, y in rows)
with open("plot.svg", "w") as file:
    file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
        f'<polyline points="{line}" fill="none" stroke="teal"/></svg>')
1 / 0
"""
# More than a model is told of, in few lines.
FLOOD_WITHOUT_END = """
for number in range(4): print("row", number, "-" * 5_000)
print("the last", flush=True)
while True: pass
"""
IN_TWO_TABS = (
    "tests/e2e/test_python_tool.py"
    "::test_program_is_allowed_and_seen_to_run_reaches_nothing_is_taken_over_and_stopped"
)
# Runs as long as it is let, and computes nothing.
WAITING = 'import asyncio\nprint("begun", flush=True)\nawait asyncio.sleep(10_000)'


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture(autouse=True)
def quiet_upstream(scripted_product: ScriptedProduct) -> Iterator[None]:
    yield
    scripted_product.calls()


def calls_with(product: ScriptedProduct, code: str) -> None:
    product.says("That is what came of it.")
    product.calls(("python", json.dumps({"code": code})))


def switch_on(person: Person) -> None:
    [server] = [one for one in person.call("GET", "/api/me/tools")["servers"] if one["tools"]]
    person.call("PUT", f"/api/me/tools/{server['id']}", {"on": True})


def ask(person: Person, *files: FilePayload) -> Locator:
    """Asks in a new chat of the open page; returns the choice that its person is given."""
    person.go("/")
    page = person.page
    if files:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add images or documents").click()
        chooser.value.set_files(list(files))
    person.composer.fill("How many rows are in it?")
    page.get_by_role("button", name="Send", exact=True).click()
    approval = page.get_by_role("group", name="Allow Python?")
    expect(approval).to_be_visible(timeout=LONG_MS)
    return approval


def calls(page: Page) -> Locator:
    return page.get_by_role("list", name="Tool calls")


def result_of(person: Person) -> str:
    """What the model was told of the chat's one program."""
    path = f"/api/conversations/{person.conversation_id}/tool-calls"
    [call] = person.call("GET", path)["data"]
    return str(call["result"])


def output(page: Page) -> Locator:
    return calls(page).get_by_role("region", name="Output of the program")


def test_program_is_allowed_and_seen_to_run_reaches_nothing_is_taken_over_and_stopped(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    calls_with(scripted_product, PLOT)
    person: Person = sign_up()
    page = person.page
    person.open("/settings")
    page.get_by_role("checkbox", name="Python").click()
    expect(page.get_by_role("checkbox", name="Python")).to_be_checked()

    points = FilePayload(name="points.csv", mimeType="text/csv", buffer=b"1,2\n3,4\n9,9\n")
    approval = ask(person, points)
    expect(calls(page)).to_contain_text("rows = [line.split")
    assert_accessible(page, "a program that waits")
    keep_image(page, "program-waits")
    approval.get_by_role("button", name="Allow once").click()

    expect(output(page)).to_contain_text("rows: 3", timeout=LONG_MS)
    expect(output(page)).to_contain_text("ZeroDivisionError")
    image = calls(page).get_by_role("img", name="plot.svg")
    expect(image).to_be_visible()
    assert image.evaluate("async (image) => { await image.decode(); return image.naturalWidth; }")
    expect(page.get_by_text("That is what came of it.")).to_be_visible(timeout=LONG_MS)
    assert_accessible(page, "a program that has run")
    keep_image(page, "program-ran")
    result = result_of(person)
    assert result.startswith("rows: 3\n")
    assert result.endswith("Files: plot.svg")

    # What the server keeps is there after a reload; plots are made again.
    page.reload()
    calls(page).get_by_text("Python", exact=True).click()
    expect(output(page)).to_contain_text("Files: plot.svg")
    calls(page).get_by_role("button", name="Run again").click()
    expect(calls(page).get_by_role("img", name="plot.svg")).to_be_visible(timeout=LONG_MS)
    assert len([one for one in person.stored() if one["role"] == "assistant"]) == 2

    hostile_program_reaches_nothing_is_stopped_and_reaches_the_model_cut(person, scripted_product)
    is_run_by_one_of_two_tabs_taken_over_when_it_closes_and_stopped_from_outside(
        person, scripted_product
    )


def hostile_program_reaches_nothing_is_stopped_and_reaches_the_model_cut(
    person: Person, product: ScriptedProduct
) -> None:
    """Dialogs, requests to other origins and errors fail the test at its end."""
    page = person.page
    person.visitor.expect_refusals()
    calls_with(product, hostile(person.visitor.url) + FLOOD_WITHOUT_END)
    ask(person).get_by_role("button", name="Allow once").click()
    expect(output(page)).to_contain_text("the last", timeout=LONG_MS)
    expect(output(page)).to_contain_text("<img src=x onerror=alert(1)>")
    assert reported(output(page)) == dict.fromkeys(ATTEMPTS, "refused")
    assert person.visitor.tabs == [page]

    calls(page).get_by_role("button", name="Stop program").click()
    expect(page.get_by_text("That is what came of it.")).to_be_visible(timeout=LONG_MS)
    result = result_of(person)
    assert "REPORT" in result
    assert "characters left out]" in result
    assert result.endswith("the last\nInterrupted.")
    assert len(result) < 16_000


# That the page does not wait for the server: frontend/src/chat/use-tool-stop.test.tsx.
@pytest.mark.nightly(beside=IN_TWO_TABS)
def test_stop_of_the_answer_ends_its_program_before_the_server_answers(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    calls_with(scripted_product, WAITING)
    switch_on(person)
    page = person.page
    person.open("/settings")
    ask(person).get_by_role("button", name="Allow once").click()
    expect(output(page)).to_contain_text("begun", timeout=LONG_MS)
    held: list[Route] = []

    def hold(route: Route) -> None:  # Playwright sets an attribute on what it calls
        held.append(route)

    page.route("**/tool-calls/stop", hold)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(calls(page).get_by_text("Stopped", exact=True)).to_be_visible()
    expect(page.locator("iframe[title=Python]")).to_have_count(0)
    expect(calls(page).get_by_role("status")).to_have_text("stopped")
    expect(calls(page).get_by_role("button", name="Run again")).to_be_hidden()
    [stop] = held
    stop.continue_()
    expect(calls(page).get_by_role("button", name="Run again")).to_be_visible()
    expect(calls(page).get_by_role("status")).to_have_text("stopped")
    assert result_of(person) == "Stopped by its person."
    assert [one["role"] for one in person.stored()] == ["user", "assistant"]


def is_run_by_one_of_two_tabs_taken_over_when_it_closes_and_stopped_from_outside(
    person: Person, product: ScriptedProduct
) -> None:
    calls_with(product, WAITING)
    ask(person).get_by_role("button", name="Allow once").click()
    expect(output(person.page)).to_contain_text("begun", timeout=LONG_MS)
    person.visitor.expect_status(409)
    tab = person.visitor.new_tab()
    tab.goto(person.page.url)
    expect(calls(tab)).to_contain_text("runs in another window", timeout=LONG_MS)
    person.page.goto("about:blank")
    expect(output(tab)).to_contain_text("begun", timeout=LONG_MS)
    # And it ends there when it is stopped elsewhere.
    chat = tab.url.rpartition("/")[2]
    person.call("POST", f"/api/conversations/{chat}/tool-calls/stop")
    expect(calls(tab).get_by_text("Stopped", exact=True)).to_be_visible()
    expect(tab.locator("iframe[title=Python]")).to_have_count(0)
