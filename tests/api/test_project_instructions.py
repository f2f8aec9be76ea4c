"""Instructions of a project, the chats in it, and chats that are moved there."""

from collections.abc import Iterator

import pytest

from tests.api.test_assistants import colleague
from tests.api.test_chat_projects import new_project
from tests.api.test_instructions import ask, request_of
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def owner(scripted_product: ScriptedProduct) -> Iterator[Person]:
    scripted_product.says("Noted.")
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def instruct(user: Person, project: str, text: str) -> int:
    answer = user.browser.patch(f"/api/projects/{project}", json={"instructions": text})
    return answer.status_code


def move(user: Person, chat: str, project: str) -> tuple[int, str]:
    answer = user.browser.patch(f"/api/conversations/{chat}", json={"project_id": project})
    return answer.status_code, answer.json().get("error", {}).get("code", "")


def chats_in(user: Person, project: str) -> list[str]:
    answer = user.browser.get("/api/conversations", params={"project_id": project})
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["data"]]


def test_instructions_of_a_project_hold_in_its_chats_and_end_when_they_leave_it(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    project = new_project(owner, "Garden")
    assert instruct(owner, project, "  Speak of plants only. ") == 200
    default = next(
        one["id"] for one in owner.browser.get("/api/projects").json()["data"] if one["is_default"]
    )
    own = {"instructions": "In one sentence."}
    inside, outside = owner.new_conversation(), owner.new_conversation()
    owner.browser.patch(f"/api/conversations/{inside}", json=own)
    assert move(owner, inside, project) == (200, "")
    assert chats_in(owner, project) == [inside]

    answer = ask(owner, inside, "What grows in the shade of a wall?")
    said = request_of(scripted_product, "What grows in the shade of a wall?")["messages"][0]
    assert said["role"] == "system"
    assert said["content"].startswith("Speak of plants only.\n\nIn one sentence.")
    sent = owner.browser.get(f"/api/messages/{answer}/sent").json()
    assert "Speak of plants only." in sent["instructions"]
    ask(owner, outside, "What is outside of the garden?")
    body = request_of(scripted_product, "What is outside of the garden?")
    assert "plants" not in str(body["messages"])

    assert move(owner, inside, default) == (200, "")
    ask(owner, inside, "And what grows there now?")
    body = request_of(scripted_product, "And what grows there now?")
    assert "plants" not in str(body["messages"][0])
    assert chats_in(owner, project) == []


def test_default_project_has_no_instructions_and_long_ones_are_refused(owner: Person) -> None:
    [default] = owner.browser.get("/api/projects").json()["data"]
    assert instruct(owner, default["id"], "For all.") == 400
    assert instruct(owner, new_project(owner, "Garden"), "x" * 20_001) in {400, 422}


def test_chat_is_not_moved_to_where_its_model_is_not_allowed(owner: Person) -> None:
    project = new_project(owner, "Other models")
    owner.browser.patch(f"/api/projects/{project}", json={"allowed_models": ["another"]})
    chat = owner.new_conversation()
    assert move(owner, chat, project) == (403, "model_not_allowed")
    assert chats_in(owner, project) == []


def test_members_read_a_projects_instructions_and_only_its_owners_write_them(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    project = new_project(owner, "Garden")
    assert instruct(owner, project, "Speak of plants only.") == 200
    member = colleague(scripted_product, owner, "member")
    path = f"/api/projects/{project}"
    assert member.browser.get(path).status_code == 404
    added = owner.browser.post(f"{path}/members", json={"user_id": member.me["user"]["id"]})
    assert added.status_code == 201, added.text
    assert member.browser.get(path).json()["instructions"] == "Speak of plants only."
    assert instruct(member, project, "Speak of stones.") == 403
    chat = member.new_conversation(project_id=project)
    assert chats_in(owner, project) == []  # a project's chats stay each person's own

    removed = owner.browser.delete(f"{path}/members/{member.me['user']['id']}")
    assert removed.status_code == 204, removed.text
    refused = member.browser.post(
        f"/api/conversations/{chat}/messages", json={"content": "What may I read?"}
    )
    assert refused.status_code == 403
    left = scripted_product.rows(
        "SELECT sent FROM conversations_message WHERE conversation_id = %s AND sent IS NOT NULL",
        [chat],
    )
    assert left
    assert "plants" not in str(left)
    member.browser.close()


def test_projects_of_others_neither_take_chats_nor_instructions(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    other = sign_up(scripted_product.url)
    theirs = new_project(other, "Theirs")
    assert instruct(owner, theirs, "Mine now.") == 404
    assert move(owner, owner.new_conversation(), theirs)[0] == 404
    assert chats_in(owner, theirs) == []
    other.browser.close()
