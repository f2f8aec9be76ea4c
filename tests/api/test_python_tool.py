"""The tool `python`: who is offered it, which page runs it, what becomes of one that leaves."""

from collections.abc import Iterator
from typing import Any

import pytest

from backend.conversations.types import WITHHELD
from tests.api.test_tools import answered, calls_of, decide, wait, waiting_call
from tests.api.test_untrusted_content import ORDERS, spotlit
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct

CODE = '{"code": "print(6 * 7)"}'


@pytest.fixture
def says(scripted_product: ScriptedProduct) -> Iterator[ScriptedProduct]:
    """The product as each test finds it."""
    scripted_product.says("It is 42.")
    scripted_product.calls(("python", CODE))
    yield scripted_product
    scripted_product.calls()


@pytest.fixture
def person(says: ScriptedProduct) -> Iterator[Person]:
    """Somebody who has switched Python on."""
    user = sign_up(says.url)
    switch_on(user)
    yield user
    user.browser.close()


@pytest.fixture(scope="module")
def kept_person(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    scripted_product.give_largest_plan(user.organization_id)
    switch_on(user)
    yield user
    user.browser.close()


@pytest.fixture
def caller(kept_person: Person, says: ScriptedProduct) -> Person:
    """As `person`, for tests that have a chat of their own and change nothing else of theirs."""
    return kept_person


def python_of(user: Person) -> dict[str, Any]:
    servers = user.browser.get("/api/me/tools").json()["servers"]
    [server] = [one for one in servers if one["kind"] == "python"]
    return dict(server)


def switch_on(user: Person) -> None:
    path = f"/api/me/tools/{python_of(user)['id']}"
    assert user.browser.put(path, json={"on": True}).status_code == 204


def ask(user: Person, conversation: str, **more: Any) -> None:
    """As a page that can run programs."""
    path = f"/api/conversations/{conversation}/messages"
    body = {"content": "What is 6 * 7?", "page_tools": ["python"], **more}
    answer = user.browser.post(path, json=body)
    assert answer.status_code == 200, answer.text


def claim(user: Person, call: dict[str, Any]) -> Any:
    return user.browser.post(f"/api/tool-calls/{call['id']}/run")


def tell(user: Person, call: dict[str, Any], run_id: str, **said: Any) -> Any:
    body = {"run_id": run_id, "outcome": "ended", **said}
    return user.browser.post(f"/api/tool-calls/{call['id']}/result", json=body)


def due_call(user: Person, conversation: str) -> dict[str, Any]:
    """A call that its person has allowed."""
    call = waiting_call(user, conversation)
    assert decide(user, call, "once") == 200
    return call


def failed(user: Person, conversation: str) -> str:
    """The result of the chat's one call, when it has failed and the answer has gone on."""
    answered(user, conversation)
    [call] = calls_of(user, conversation)
    assert call["status"] == "failed"
    return str(call["result"])


def lapse(product: ScriptedProduct, call: dict[str, Any]) -> None:
    """As if its page, or all pages, had said nothing for long."""
    changed = product.rows(
        "UPDATE tools_toolcall SET run_until = now() - interval '1 second' WHERE id = %s"
        " RETURNING round_id",
        [call["id"]],
    )
    product.rows(
        "UPDATE tools_toolround SET claimed_until = now() - interval '1 second'"
        " WHERE message_id = %s RETURNING state",
        [changed[0]["round_id"]],
    )


def wait_for(product: ScriptedProduct, call: dict[str, Any], condition: str) -> None:
    """Of the call's row."""
    query = f"SELECT {condition} FROM tools_toolcall WHERE id = %s"
    product.wait_until(query, [call["id"]])


# Whether a process looks at the round when the page's lease lapses, and not before.
IS_LOOKED_AT_IN_TIME = """
    run_until = (SELECT claimed_until FROM tools_toolround WHERE message_id = round_id)
"""


def test_program_is_run_by_a_page_and_the_answer_goes_on(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = person.new_conversation()
    ask(person, conversation)
    call = waiting_call(person, conversation)
    assert call["of_page"]
    assert claim(person, call).status_code == 409  # not before it is allowed
    assert decide(person, call, "once") == 200
    run = claim(person, call).json()
    assert run["code"] == "print(6 * 7)"
    renew = {"run_id": run["run_id"]}
    assert person.browser.put(f"/api/tool-calls/{call['id']}/run", json=renew).status_code == 204
    said = {"output": "42\n", "files": ["plot.svg"]}
    assert tell(person, call, run["run_id"], **said).status_code == 200
    messages = answered(person, conversation)
    assert messages[-1]["content"].strip() == "It is 42."
    spotlit(scripted_product.prompts[-1][-1]["content"], "42\nFiles: plot.svg")
    assert tell(person, call, run["run_id"], output="43").status_code == 409
    [stored] = calls_of(person, conversation)
    assert (stored["status"], stored["result"]) == ("done", "42\nFiles: plot.svg")
    events = person.browser.get("/api/audit-log").json()["data"]
    assert [one["details"]["tool"] for one in events if one["action"] == "tool.called"] == [
        "python"
    ]


def test_result_that_reads_like_orders_is_kept_from_the_model_and_the_chat_goes_on(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    run = claim(caller, call := due_call(caller, conversation)).json()
    assert tell(caller, call, run["run_id"], output=ORDERS).status_code == 200
    assert answered(caller, conversation)[-1]["content"].strip() == "It is 42."
    assert scripted_product.prompts[-1][-1]["content"] == WITHHELD
    assert not any(ORDERS in str(prompt) for prompt in scripted_product.prompts)
    [shown] = calls_of(caller, conversation)
    assert (shown["result"], shown["withheld"]) == (ORDERS, True)
    path = f"/api/conversations/{conversation}/messages"
    assert caller.browser.post(path, json={"content": "And now?"}).status_code == 200
    assert WITHHELD in [message["content"] for message in scripted_product.prompts[-1]]


def test_only_a_page_that_says_so_is_offered_python(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation, page_tools=[])
    assert "tools" not in scripted_product.bodies[-1]
    ask(caller, conversation)
    [tool] = scripted_product.bodies[-1]["tools"]
    assert tool["function"]["name"] == "python"
    call = due_call(caller, conversation)
    run = claim(caller, call).json()
    tell(caller, call, run["run_id"], output="42")
    answered(caller, conversation)
    # The page that goes on with the results is the same.
    assert len(scripted_product.bodies[-1]["tools"]) == 1


def test_key_is_not_offered_python(caller: Person, scripted_product: ScriptedProduct) -> None:
    key = caller.new_key(scopes=["inference", "conversations"])
    conversation = caller.new_conversation()
    answer = caller.browser.post(
        f"/api/conversations/{conversation}/messages",
        json={"content": "Hello", "page_tools": ["python"]},
        headers={"Authorization": f"Bearer {key['secret']}", "Cookie": ""},
    )
    assert answer.status_code == 200, answer.text
    assert "tools" not in scripted_product.bodies[-1]


def test_manager_who_switches_python_off_ends_what_waits(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = person.new_conversation()
    ask(person, conversation)
    call = waiting_call(person, conversation)
    path = f"/api/organization/tool-servers/{python_of(person)['id']}"
    assert person.browser.delete(path).status_code == 400
    assert person.browser.patch(path, json={"enabled": False}).status_code == 200
    decide(person, call, "once")
    assert failed(person, conversation) == "Tool not available any more."
    ask(person, conversation)
    assert "tools" not in scripted_product.bodies[-1]
    servers = person.browser.get("/api/me/tools").json()["servers"]
    assert [one for one in servers if one["kind"] == "python"] == []


def test_one_of_two_pages_runs_it(caller: Person) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    first, second = claim(caller, call), claim(caller, call)
    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["error"]["code"] == "tool_call_not_due"
    wrong = "00000000-0000-4000-8000-000000000000"
    assert tell(caller, call, wrong, output="mine").status_code == 409
    assert tell(caller, call, first.json()["run_id"], output="42").status_code == 200


def test_page_that_leaves_gives_the_program_to_another(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    first = claim(caller, call).json()
    release = f"/api/tool-calls/{call['id']}/release"
    answer = caller.browser.post(release, json={"run_id": first["run_id"]})
    assert answer.status_code == 204
    second = wait(lambda: (got := claim(caller, call)).status_code == 200 and got).json()
    assert tell(caller, call, first["run_id"], output="late").status_code == 409
    # One that says nothing more is given up too, and one that comes back in time is not.
    wait_for(scripted_product, call, IS_LOOKED_AT_IN_TIME)
    lapse(scripted_product, call)
    wait_for(scripted_product, call, "status = 'due'")
    assert tell(caller, call, second["run_id"], output="42").status_code == 200
    answered(caller, conversation)


def test_program_that_no_page_runs_fails(caller: Person, scripted_product: ScriptedProduct) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    wait_for(scripted_product, call, "run_until IS NOT NULL")
    lapse(scripted_product, call)
    assert failed(caller, conversation) == "Not run: no page was open."


def test_program_that_closes_each_page_is_given_up(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    for _ in range(3):
        wait(lambda: claim(caller, call).status_code == 200)
        lapse(scripted_product, call)
    assert failed(caller, conversation) == "Not run: page closed."


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        ("stopped", "Interrupted."),
        ("timeout", "Timeout after 60 s."),
        ("failed", "Python could not run."),
    ],
)
def test_program_that_was_ended_says_what_it_had_said(
    caller: Person, scripted_product: ScriptedProduct, outcome: str, word: str
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    run = claim(caller, call).json()
    assert tell(caller, call, run["run_id"], outcome=outcome, output="1\n2\n").status_code == 200
    assert failed(caller, conversation) == f"1\n2\n{word}"
    spotlit(scripted_product.prompts[-1][-1]["content"], f"Error: 1\n2\n{word}")


def test_declined_program_is_not_run(caller: Person, scripted_product: ScriptedProduct) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = waiting_call(caller, conversation)
    assert decide(caller, call, "deny") == 200
    assert claim(caller, call).status_code == 409
    answered(caller, conversation)
    assert "This call was declined." in scripted_product.prompts[-1][-1]["content"]


def test_writing_on_takes_the_program_from_its_page(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    run = claim(caller, call).json()
    scripted_product.calls()
    ask(caller, conversation)
    wait_for(scripted_product, call, "status = 'failed'")
    assert calls_of(caller, conversation)[0]["status"] == "failed"
    assert tell(caller, call, run["run_id"], output="42").status_code == 409


def test_result_is_bounded(caller: Person) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    run = claim(caller, call).json()
    too_much: list[dict[str, Any]] = [
        {"output": "x" * 16_001},
        {"files": ["x"] * 51},
        {"files": ["x" * 256]},
        {"outcome": "well"},
    ]
    for said in too_much:
        assert tell(caller, call, run["run_id"], **said).status_code in {400, 422}, list(said)
    whole = {"output": "x" * 16_000, "files": ["y" * 255] * 50}
    assert tell(caller, call, run["run_id"], **whole).status_code == 200
    answered(caller, conversation)
    [stored] = calls_of(caller, conversation)
    assert 16_000 <= len(stored["result"]) < 17_000


def test_call_without_a_program_fails(caller: Person, scripted_product: ScriptedProduct) -> None:
    scripted_product.calls(("python", '{"program": "1"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    assert failed(caller, conversation) == "Not called: code is missing."


def test_others_neither_run_a_program_nor_say_what_came_of_it(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = due_call(caller, conversation)
    invitation = caller.new_invitation(role="admin")["url"].partition("#")[2]
    colleague = sign_up(scripted_product.url, invitation=invitation)
    outsider = sign_up(scripted_product.url)
    key = caller.new_key(scopes=["inference", "conversations"])
    for other in (colleague, outsider):
        assert claim(other, call).status_code == 404
    run = claim(caller, call).json()
    body = {"run_id": run["run_id"]}
    at = f"/api/tool-calls/{call['id']}"
    for other in (colleague, outsider):
        assert tell(other, call, run["run_id"], output="theirs").status_code == 404
        assert other.browser.put(f"{at}/run", json=body).status_code == 404
        assert other.browser.post(f"{at}/release", json=body).status_code == 404
    by_key = {"Authorization": f"Bearer {key['secret']}", "Cookie": ""}
    theirs = {**body, "outcome": "ended", "output": "theirs"}
    refused = caller.browser.post(f"{at}/result", json=theirs, headers=by_key)
    assert refused.status_code in {401, 403}
    assert tell(caller, call, run["run_id"], output="42").status_code == 200
    answered(caller, conversation)
    assert calls_of(caller, conversation)[0]["result"] == "42"
    colleague.browser.close()
    outsider.browser.close()
