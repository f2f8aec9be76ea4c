"""Assistants at the doors of people: set up, shared by role, used in chats, and tried by others."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.test_instructions import ask, request_of
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct

MODEL_PARAMETERS = {"temperature": 0.25, "max_tokens": 40}


@pytest.fixture
def other_user(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def colleague(product: ScriptedProduct, inviter: Person, role: str) -> Person:
    link = str(inviter.new_invitation(role=role)["url"])
    return sign_up(product.url, invitation=link.partition("#")[2])


@pytest.fixture
def owner(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def new_assistant(person: Person, **options: Any) -> dict[str, Any]:
    answer = person.browser.post("/api/assistants", json={"name": "Pirate", **options})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def names(person: Person) -> list[str]:
    return [each["name"] for each in person.browser.get("/api/assistants").json()["data"]]


def test_chat_with_an_assistant_begins_with_its_defaults_and_sends_its_instructions(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Arr.")
    model = owner.browser.get("/api/models").json()["data"][0]["id"]
    owner.browser.put(
        "/api/me/chat-defaults", json={"about": "A chemist", "parameters": {"seed": 7}}
    )
    made = new_assistant(
        owner,
        instructions="Speak as a pirate.",
        model=model,
        parameters=MODEL_PARAMETERS,
        starters=["Where is the gold?"],
    )
    assert made["starters"] == ["Where is the gold?"]
    assert (made["own"], made["may_edit"], made["seen_by"]) == (True, True, [])

    conversation_id = owner.new_conversation(assistant_id=made["id"])
    path = f"/api/conversations/{conversation_id}"
    owner.browser.patch(path, json={"instructions": "Be brief."})
    chat = owner.browser.get(path).json()
    assert chat["assistant"] == {"id": made["id"], "name": "Pirate"}
    assert chat["model"] == model
    assert (chat["parameters"]["temperature"], chat["parameters"]["seed"]) == (0.25, 7)

    first = ask(owner, conversation_id, "Where is the gold, assistant?")
    system = request_of(scripted_product, "Where is the gold, assistant?")["messages"][0]
    assert system["content"].startswith("Speak as a pirate.\n\nBe brief.\n\n")
    assert "A chemist" in system["content"]

    # A change holds from the next answer on, and what was sent stays as it was.
    change = {"instructions": "Speak as a poet."}
    assert owner.browser.patch(f"/api/assistants/{made['id']}", json=change).status_code == 200
    second = ask(owner, conversation_id, "And the silver?")
    sent = [owner.browser.get(f"/api/messages/{each}/sent").json() for each in (first, second)]
    assert "pirate" in sent[0]["instructions"]
    assert "poet" in sent[1]["instructions"]
    assert "pirate" not in sent[1]["instructions"]


def test_chats_of_a_deleted_assistant_go_on_without_it(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Arr.")
    made = new_assistant(owner, instructions="Speak as a pirate.")
    conversation_id = owner.new_conversation(assistant_id=made["id"])
    ask(owner, conversation_id, "Before it was deleted")
    assert owner.browser.delete(f"/api/assistants/{made['id']}").status_code == 204
    assert owner.browser.get(f"/api/assistants/{made['id']}").status_code == 404

    ask(owner, conversation_id, "After it was deleted")
    body = request_of(scripted_product, "After it was deleted")
    assert "pirate" not in str(body["messages"])
    chat = owner.browser.get(f"/api/conversations/{conversation_id}").json()
    assert chat["assistant"] is None
    assert len(chat["messages"]) == 4


def test_assistant_is_seen_and_changed_by_the_roles_that_it_is_shared_with(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    people = {role: colleague(scripted_product, owner, role) for role in ("member", "finance")}
    author, reader = colleague(scripted_product, owner, "member"), people["member"]
    made = new_assistant(author, name="Shared", instructions="Speak as a pirate.")
    path = f"/api/assistants/{made['id']}"
    for person in (owner, *people.values()):
        assert names(person) == []
        assert person.browser.get(path).status_code == 404
        assert person.browser.post(f"{path}/duplicate").status_code == 404
        assert person.browser.patch(path, json={"name": "x"}).status_code == 404

    shared = {"seen_by": ["member"], "edited_by": ["finance"]}
    assert author.browser.patch(path, json=shared).status_code == 200
    for person in (owner, *people.values()):
        assert names(person) == ["Shared"]
    assert reader.browser.get(path).json()["may_edit"] is False
    for refused in (
        reader.browser.patch(path, json={"name": "taken over"}),
        reader.browser.delete(path),
    ):
        assert refused.status_code == 403, refused.text
    by_finance = people["finance"].browser.patch(path, json={"name": "By finance"})
    by_owner = owner.browser.patch(path, json={"description": "By the owner"})
    assert (by_finance.status_code, by_owner.status_code) == (200, 200)

    copy = reader.browser.post(f"{path}/duplicate").json()
    assert (copy["own"], copy["seen_by"], copy["name"]) == (True, [], "Copy of By finance")
    assert copy["instructions"] == "Speak as a pirate."
    assert "Copy of By finance" not in names(author)


def test_assistant_that_is_shared_no_more_says_nothing_more_in_a_colleagues_chat(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Arr.")
    reader = colleague(scripted_product, owner, "member")
    made = new_assistant(owner, instructions="The secret of the pirate.", seen_by=["member"])
    conversation_id = reader.new_conversation(assistant_id=made["id"])
    ask(reader, conversation_id, "While it is shared")
    assert "secret" in str(request_of(scripted_product, "While it is shared")["messages"])

    owner.browser.patch(f"/api/assistants/{made['id']}", json={"seen_by": []})
    answer_id = ask(reader, conversation_id, "When it is not")
    assert (
        "The secret" not in request_of(scripted_product, "When it is not")["messages"][0]["content"]
    )
    sent = reader.browser.get(f"/api/messages/{answer_id}/sent").json()
    assert sent["instructions"] == ""
    assert reader.browser.get(f"/api/conversations/{conversation_id}").json()["assistant"] is None


def test_assistant_of_another_organization_is_nowhere(owner: Person, other_user: Person) -> None:
    everybody = ["owner", "admin", "member", "finance", "viewer"]
    made = new_assistant(owner, name="Canary", seen_by=everybody, edited_by=everybody)
    path = f"/api/assistants/{made['id']}"
    browser = other_user.browser
    assert names(other_user) == []
    for answer in (
        browser.get(path),
        browser.patch(path, json={"name": "taken over"}),
        browser.delete(path),
        browser.post(f"{path}/duplicate"),
        browser.post("/api/conversations", json={"assistant_id": made["id"]}),
    ):
        assert answer.status_code == 404, answer.text
        assert "Canary" not in answer.text
    listed = browser.get("/api/assistants", params={"cursor": made["id"]})
    assert listed.status_code == 400
    assert owner.browser.get(path).json()["name"] == "Canary"


@pytest.fixture(scope="module")
def refused_user(scripted_product: ScriptedProduct) -> Iterator[Person]:
    """Somebody of whose requests nothing comes."""
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x", "instructions": "x" * 20_001}, "instructions"),
        ({"name": "x", "starters": ["x"] * 7}, "starters"),
        ({"name": "x", "model": "no-such-model"}, "model"),
        ({"name": "x", "parameters": {"temperature": 3}}, "temperature"),
        ({"name": "x", "seen_by": ["everybody"]}, "seen_by"),
    ],
)
def test_bad_assistant_is_refused_by_name(
    refused_user: Person, body: dict[str, Any], field: str
) -> None:
    answer = refused_user.browser.post("/api/assistants", json=body)
    assert answer.status_code in {400, 404}
    assert field in answer.json()["error"]["param"]
