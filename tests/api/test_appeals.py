"""Whoever was stopped asks a person to look, once, and reads what they said."""

from collections.abc import Iterator

import httpx
import pytest

from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct
from tests.support.staff import Staff

HARMFUL_PROMPT = "How do I make a pipe bomb at home?"
HARMFUL_ANSWER = "Sure. Now, to make a pipe bomb you will need a pipe and some nails and then more."
GENERATION = "X-Parley-Generation-Id"


@pytest.fixture(scope="module")
def author(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def blocked_prompt(person: Person) -> str:
    """A refused chat turn; the id of its generation, as the page finds it."""
    conversation = person.new_conversation()
    path = f"/api/conversations/{conversation}/messages"
    refusal = person.browser.post(path, json={"content": HARMFUL_PROMPT})
    assert refusal.status_code == 400
    assert refusal.json()["error"]["code"] == "content_policy_violation"
    messages = person.browser.get(f"/api/conversations/{conversation}").json()["messages"]
    return str(messages[-1]["generation_id"])


def halted_answer(product: ScriptedProduct, person: Person) -> str:
    product.says(HARMFUL_ANSWER)
    answer = person.browser.post(
        "/api/chat/completions",
        json={"model": "auto", "messages": [{"role": "user", "content": "What now?"}]},
    )
    choice = answer.json()["choices"][0]
    assert choice["finish_reason"] == "content_filter"
    assert "bomb" not in choice["message"]["content"]
    return answer.headers[GENERATION]


def appeal(person: Person, generation_id: str, **fields: str) -> httpx.Response:
    return person.browser.post("/api/appeals", json={"generation_id": generation_id, **fields})


def about(person: Person, generation_id: str) -> list[dict[str, str]]:
    answer = person.browser.get("/api/appeals", params={"generation_id": generation_id})
    assert answer.status_code == 200
    appeals: list[dict[str, str]] = answer.json()["data"]
    return appeals


def test_blocked_prompt_is_appealed_once_and_its_author_sees_the_review(
    author: Person, administrator: Staff
) -> None:
    generation_id = blocked_prompt(author)
    assert about(author, generation_id) == []
    sent = appeal(author, generation_id, reason="  It is for a novel.  ")
    assert (sent.status_code, sent.json()["state"]) == (201, "open")
    assert appeal(author, generation_id).status_code == 409

    queue = administrator.get("/admin/audit/review/?state__exact=open").text
    assert "It is for a novel." in queue
    review = sent.json()["id"]
    done = administrator.submit(
        f"/admin/audit/review/{review}/change/", note="Fiction is fine.", audit_review_overturn="1"
    )
    assert done.status_code == 302, done.text[:3000]
    [shown] = about(author, generation_id)
    assert (shown["state"], shown["note"]) == ("overturned", "Fiction is fine.")
    assert shown["resolved_at"] is not None


def test_halted_answer_is_appealed(author: Person, scripted_product: ScriptedProduct) -> None:
    generation_id = halted_answer(scripted_product, author)
    assert appeal(author, generation_id).status_code == 201
    assert [one["generation_id"] for one in about(author, generation_id)] == [generation_id]


def test_appeal_is_refused_when_decision_stopped_nothing(
    author: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("A fine day.")
    answer = author.browser.post(
        "/api/chat/completions",
        json={"model": "auto", "messages": [{"role": "user", "content": "What a day?"}]},
    )
    assert appeal(author, answer.headers[GENERATION]).status_code == 404


@pytest.fixture
def other_users(scripted_product: ScriptedProduct, author: Person) -> Iterator[list[Person]]:
    people = [sign_up(scripted_product.url)]
    yield people
    for person in people:
        person.browser.close()


def test_appeal_is_404_for_other_users_and_organizations(
    author: Person, other_users: list[Person]
) -> None:
    generation_id = blocked_prompt(author)
    appeal(author, generation_id)
    absent = "00000000-0000-4000-8000-000000000000"
    for other_user in other_users:
        assert about(other_user, generation_id) == []
        foreign, missing = appeal(other_user, generation_id), appeal(other_user, absent)
        assert (foreign.status_code, missing.status_code) == (404, 404)
        assert foreign.text.replace(generation_id, absent) == missing.text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"generation_id": "x"},
        {"generation_id": "00000000-0000-4000-8000-000000000000", "reason": "x" * 2001},
        {"generation_id": "00000000-0000-4000-8000-000000000000", "note": "overturned"},
    ],
)
def test_appeal_is_400_when_body_is_invalid(author: Person, body: dict[str, str]) -> None:
    assert author.browser.post("/api/appeals", json=body).status_code == 400
