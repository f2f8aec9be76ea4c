"""Several models answer one prompt at once: what the page's comparison asks of the API."""

import threading
import time
from collections.abc import Iterator

import pytest

from tests.api.event_stream import read_events, text_of
from tests.api.test_chat_page import ask, messages_of, stop
from tests.api.users import Person, sign_up
from tests.support.compared_models import compared_models, says
from tests.support.scripted import ScriptedProduct
from tests.support.upstream import UpstreamThread

LONG = " ".join(["word"] * 400)
Upstreams = dict[str, UpstreamThread]


@pytest.fixture(scope="module")
def upstreams(scripted_product: ScriptedProduct) -> Iterator[Upstreams]:
    with compared_models(scripted_product) as made:
        yield made


@pytest.fixture
def person(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def answer_beside(user: Person, prompt_id: str, model: str):
    return user.browser.post(
        f"/api/messages/{prompt_id}/regenerate", json={"model": model, "tool_choice": "none"}
    )


def test_prompt_is_answered_by_another_model_while_the_first_writes_and_one_is_stopped(
    person: Person, upstreams: Upstreams, scripted_product: ScriptedProduct
) -> None:
    says(upstreams["alder"], LONG, rate=20)
    says(upstreams["birch"], "From Birch.")
    chat = person.new_conversation()
    first: list[str] = []
    named = threading.Event()

    def read_first() -> None:
        body = {"content": "Which tree?", "model": "alder", "tool_choice": "none"}
        url = f"/api/conversations/{chat}/messages"
        with person.browser.stream("POST", url, json=body) as answer:
            for line in answer.iter_lines():
                first.append(line)
                if len(first) > 3:
                    named.set()

    reading = threading.Thread(target=read_first)
    reading.start()
    assert named.wait(30)
    prompt, begun = messages_of(person, chat)
    assert begun["status"] == "pending"
    events = read_events(answer_beside(person, prompt["id"], "birch").text)
    assert text_of(events).strip() == "From Birch."
    assert events[0].json["parley"]["user_message_id"] == prompt["id"]
    still = person.browser.get(f"/api/conversations/{chat}").json()["generation"]
    assert still["message_id"] == begun["id"], "the first goes on meanwhile"

    stop(person, first)
    reading.join(30)
    person.browser.patch(f"/api/conversations/{chat}", json={"active_message_id": begun["id"]})
    prompt, stopped = messages_of(person, chat)
    assert stopped["status"] == "cancelled" and stopped["content"].startswith("word")
    assert len(stopped["siblings"]) == 2

    chosen = {"active_message_id": events[0].json["parley"]["message_id"], "model": "birch"}
    person.browser.patch(f"/api/conversations/{chat}", json=chosen)
    assert messages_of(person, chat)[1]["content"].strip() == "From Birch."
    assert person.browser.get(f"/api/conversations/{chat}").json()["model"] == "birch"
    billed = "SELECT model FROM billing_usagerecord WHERE organization_id = %s ORDER BY model"
    for _ in range(100):
        rows = scripted_product.rows(billed, [person.organization_id])
        if len(rows) >= 2:
            break
        time.sleep(0.1)
    assert {"alder", "birch"} <= {row["model"] for row in rows}, "each is billed by itself"


def test_model_that_is_over_its_limit_is_refused_and_the_other_answers(
    person: Person, upstreams: Upstreams
) -> None:
    says(upstreams["alder"], "From Alder.")
    says(upstreams["birch"], "From Birch.")
    project = person.browser.post("/api/projects", json={"name": "Trees"}).json()["id"]
    limits = {"requests_per_minute": 1, "tokens_per_minute": 100_000}
    limit = f"/api/projects/{project}/rate-limits/alder"
    assert person.browser.put(limit, json=limits).status_code == 200
    chat = person.new_conversation(project_id=project)
    ask(person, chat, model="alder", tool_choice="none")

    prompt_of = {"content": "Again?", "model": "alder", "tool_choice": "none"}
    refused = person.browser.post(f"/api/conversations/{chat}/messages", json=prompt_of)
    assert refused.status_code == 429
    prompt_id = refused.json()["error"]["parley"]["user_message_id"]
    assert text_of(read_events(answer_beside(person, prompt_id, "birch").text)) == "From Birch. "
    assert messages_of(person, chat)[-1]["siblings"] == [messages_of(person, chat)[-1]["id"]], (
        "what was refused is no version"
    )


def test_prompt_of_another_user_is_not_found(
    person: Person, upstreams: Upstreams, scripted_product: ScriptedProduct
) -> None:
    says(upstreams["alder"], "From Alder.")
    chat = person.new_conversation()
    ask(person, chat, model="alder")
    prompt_id = messages_of(person, chat)[0]["id"]
    other_user = sign_up(scripted_product.url)
    assert answer_beside(other_user, prompt_id, "birch").status_code == 404
    other_user.browser.close()
    assert len(messages_of(person, chat)[1]["siblings"]) == 1


def test_unknown_tool_choice_is_refused(person: Person) -> None:
    body = {"content": "Hi", "tool_choice": "required"}
    chat = person.new_conversation()
    answer = person.browser.post(f"/api/conversations/{chat}/messages", json=body)
    assert answer.status_code == 400 and answer.json()["error"]["param"] == "tool_choice"


def comparison_of(user: Person, chat: str) -> dict | None:
    return user.browser.get(f"/api/conversations/{chat}").json()["comparison"]


def test_comparison_is_known_until_an_answer_is_chosen_or_the_chat_goes_on(
    person: Person, upstreams: Upstreams
) -> None:
    says(upstreams["alder"], "From Alder.")
    says(upstreams["birch"], "From Birch.")
    chat = person.new_conversation()
    ask(person, chat, model="alder", tool_choice="none")
    prompt = messages_of(person, chat)[0]["id"]
    path = f"/api/messages/{prompt}/regenerate"
    plain = {"model": "birch", "tool_choice": "none"}
    assert person.browser.post(path, json=plain).status_code == 200
    assert comparison_of(person, chat) is None, "a version is not beside the others"

    assert person.browser.post(path, json={**plain, "beside": 1}).status_code == 200
    known = comparison_of(person, chat)
    assert known and known["prompt_id"] == prompt
    assert [one["model"] for one in known["answers"]] == ["alder", "birch"]
    assert [one["status"] for one in known["answers"]] == ["completed", "completed"]
    assert known["answers"][1]["parts"][0]["text"].strip() == "From Birch."
    says(upstreams["cedar"], "From Cedar.")
    says(upstreams["elm"], "From Elm.")
    for place, model in ((3, "elm"), (2, "cedar")):
        body = {**plain, "model": model, "beside": place}
        assert person.browser.post(path, json=body).status_code == 200
    known = comparison_of(person, chat)
    shown = [one["model"] for one in known["answers"]] if known else []
    assert shown == ["alder", "birch", "cedar", "elm"], "whichever was begun first"
    assert person.browser.post(path, json={**plain, "beside": 4}).status_code == 400
    assert person.browser.post(path, json={**plain, "beside": 1}).status_code == 200
    known = comparison_of(person, chat)
    assert known
    active = messages_of(person, chat)[1]["id"]
    assert known["answers"][1]["id"] == active, "the newest of a model"

    person.browser.patch(f"/api/conversations/{chat}", json={"active_message_id": active})
    assert comparison_of(person, chat) is None
    assert person.browser.post(path, json={**plain, "beside": 1}).status_code == 200
    ask(person, chat, model="birch", tool_choice="none")
    assert comparison_of(person, chat) is None
