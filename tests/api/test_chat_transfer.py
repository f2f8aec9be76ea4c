"""Chats out and in over HTTP, several at once, and temporary ones."""

import json
from collections.abc import Iterator

import pytest

from tests.api.test_instructions import ask
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def author(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def test_export_is_imported_once(author: Person, scripted_product: ScriptedProduct) -> None:
    scripted_product.says("A mineral.")
    chat = author.new_conversation(title="Salt")
    ask(author, chat, "What is salt?")
    author.new_conversation(title="Empty")

    whole = author.browser.get("/api/conversations/export")
    assert whole.headers["content-disposition"] == 'attachment; filename="parley-chats.json"'
    exported = json.loads(whole.content)
    assert {one["title"] for one in exported["conversations"]} == {"Salt", "Empty"}
    text = author.browser.get(f"/api/conversations/{chat}/export").text
    assert text.startswith("# Salt") and "A mineral." in text
    one = author.browser.get(f"/api/conversations/{chat}/export?format=json").json()
    assert [row["id"] for row in one["conversations"]] == [chat]

    other = sign_up(scripted_product.url)
    body = {"conversations": exported["conversations"]}
    first = other.browser.post("/api/conversations/import", json=body).json()
    assert (first["imported"], first["present"]) == (1, 0)
    [refused] = first["refused"]
    assert exported["conversations"][refused["place"]]["title"] == "Empty"
    again = other.browser.post("/api/conversations/import", json=body).json()
    assert (again["imported"], again["present"]) == (0, 1)
    [row] = other.browser.get("/api/conversations").json()["data"]
    assert row["title"] == "Salt"
    assert other.browser.get(f"/api/conversations/{chat}/export").status_code == 404


def test_many_conversations_go_to_the_trash_and_come_back(author: Person) -> None:
    ids = [author.new_conversation(title=title) for title in "ab"]
    body = {"ids": ids, "action": "delete"}
    assert author.browser.post("/api/conversations/bulk", json=body).json() == {"changed": 2}
    rows = author.browser.get("/api/conversations?deleted=true").json()["data"]
    assert {row["id"] for row in rows} == set(ids) and all(row["deleted_at"] for row in rows)
    body["action"] = "restore"
    assert author.browser.post("/api/conversations/bulk", json=body).json() == {"changed": 2}
    assert author.browser.get("/api/conversations?deleted=true").json()["data"] == []


def test_trash_is_erased_by_ids_and_as_a_whole(author: Person) -> None:
    ids = [author.new_conversation(title=title) for title in "abc"]
    wrong: list[dict[str, object]] = [{}, {"ids": []}, {"ids": None}, {"ids": "some"}]
    for refused in wrong:
        answer = author.browser.post("/api/conversations/trash/erase", json=refused)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "ids"), refused
    body = {"ids": ids, "action": "delete"}
    assert author.browser.post("/api/conversations/bulk", json=body).json() == {"changed": 3}
    for chosen, erased in ((ids[:1], 1), (ids[:1], 0), ("all", 2), ("all", 0)):
        answer = author.browser.post("/api/conversations/trash/erase", json={"ids": chosen})
        assert answer.json() == {"erased": erased, "generating": 0, "remaining": 0}
    assert author.browser.get("/api/conversations?deleted=true").json()["data"] == []
    assert author.browser.post(f"/api/conversations/{ids[0]}/restore").status_code == 404


def test_temporary_chat_is_erased_when_it_ends(
    author: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Certainly.")
    chat = author.new_conversation(temporary=True)
    ask(author, chat, "Keep this to yourself")
    assert author.browser.get(f"/api/conversations/{chat}").json()["temporary"] is True
    assert author.browser.get("/api/conversations").json()["data"] == []
    assert author.browser.delete(f"/api/conversations/{chat}").status_code == 204
    assert author.browser.post(f"/api/conversations/{chat}/restore").status_code == 404
    found = scripted_product.rows(
        "SELECT count(*) AS n FROM conversations_message WHERE conversation_id = %s", [chat]
    )
    assert found[0]["n"] == 0
