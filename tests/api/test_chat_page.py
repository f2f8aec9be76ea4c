"""What the chat page does: conversations, turns, branches, resuming, stopping, sharing."""

import contextlib
import time
import uuid

import httpx
import pytest

from tests.api.event_stream import read_events, text_of
from tests.api.users import Person

pytestmark = pytest.mark.model


def ask(user: Person, conversation_id: str, text: str | list = "Hi", **options) -> list:
    """A whole turn; the events of its stream."""
    answer = user.browser.post(
        f"/api/conversations/{conversation_id}/messages",
        json={"content": text, "max_tokens": 4, **options},
    )
    assert answer.status_code == 200, answer.text
    return read_events(answer.text)


def stop(user: Person, lines: list[str]) -> str:
    """Stop the generation whose stream began with `lines`; its id."""
    generation_id = read_events("\n".join(lines[:3]) + "\n")[0].json["parley"]["generation_id"]
    assert user.browser.post(f"/api/generations/{generation_id}/cancel").status_code == 202
    return str(generation_id)


def messages_of(user: Person, conversation_id: str) -> list[dict]:
    return user.browser.get(f"/api/conversations/{conversation_id}").json()["messages"]


def test_turn_is_stored_as_it_was_streamed(person, product):
    conversation_id = person.new_conversation()
    events = ask(person, conversation_id)
    ids = events[0].json["parley"]
    assert ids["conversation_id"] == conversation_id
    assert [event.id for event in events] == [str(n + 1) for n in range(len(events))]
    assert events[-1].data == "[DONE]"

    prompt, answer = messages_of(person, conversation_id)
    assert (prompt["role"], prompt["content"]) == ("user", "Hi")
    assert prompt["id"] == ids["user_message_id"]
    assert answer["id"] == ids["message_id"] and answer["parent_id"] == prompt["id"]
    assert answer["content"] == text_of(events)
    assert answer["status"] == "completed"
    assert answer["generation_id"] == ids["generation_id"]
    [row] = product.rows(
        "SELECT g.state, g.output_tokens, u.output_tokens AS billed FROM generation_generation g"
        " JOIN billing_usagerecord u ON u.generation_id = g.id WHERE g.id = %s",
        [ids["generation_id"]],
    )
    assert row["state"] == "completed" and row["billed"] == row["output_tokens"]


def test_edit_makes_a_branch_and_the_old_one_can_be_selected(person):
    conversation_id = person.new_conversation()
    ask(person, conversation_id, "One")
    first_prompt, first_answer = messages_of(person, conversation_id)
    ask(person, conversation_id, "Two", parent_id=first_prompt["parent_id"])
    second_prompt, _ = messages_of(person, conversation_id)
    assert second_prompt["content"] == "Two"
    assert second_prompt["siblings"] == [first_prompt["id"], second_prompt["id"]]
    switched = person.browser.patch(
        f"/api/conversations/{conversation_id}", json={"active_message_id": first_prompt["id"]}
    )
    assert switched.status_code == 200
    assert [m["id"] for m in messages_of(person, conversation_id)] == [
        first_prompt["id"],
        first_answer["id"],
    ]


def test_regeneration_adds_a_sibling(person):
    conversation_id = person.new_conversation()
    ask(person, conversation_id)
    _, answer = messages_of(person, conversation_id)
    lines = []
    with person.browser.stream("POST", f"/api/messages/{answer['id']}/regenerate") as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if line == "id: 4":
                stop(person, lines)
    _, newer = messages_of(person, conversation_id)
    assert newer["siblings"] == [answer["id"], newer["id"]]
    assert newer["content"] == text_of(read_events("\n".join(lines) + "\n"))


def test_finished_answer_is_replayed_from_any_event_by_any_process(person, product):
    conversation_id = person.new_conversation()
    events = ask(person, conversation_id)
    generation_id = events[0].json["parley"]["generation_id"]
    for web in product.webs:
        for after in (0, 3, len(events)):
            again = httpx.get(
                f"{web.url}/api/generations/{generation_id}/events",
                headers={"Last-Event-ID": str(after)},
                cookies=dict(person.browser.cookies),
                timeout=30,
            )
            assert again.status_code == 200
            assert read_events(again.text) == events[after:]


def test_no_event_is_lost_when_page_reloads_mid_answer(person, product):
    conversation_id = person.new_conversation()
    path = f"/api/conversations/{conversation_id}/messages"
    body = {"content": "Write a long story about a lighthouse.", "max_tokens": 100}
    received = ""
    with person.browser.stream("POST", path, json=body) as stream:
        for line in stream.iter_lines():
            received += line + "\n"
            if line.startswith("id: 6"):
                break
    whole = received[: received.rindex("\n\n") + 2]
    events = read_events(whole)
    other = product.webs[-1].url
    reloaded = httpx.get(
        f"{other}/api/conversations/{conversation_id}", cookies=dict(person.browser.cookies)
    ).json()
    generation = reloaded["generation"]
    assert generation["id"] == events[0].json["parley"]["generation_id"]
    rest = httpx.get(
        f"{other}/api/generations/{generation['id']}/events",
        params={"after": events[-1].id},
        cookies=dict(person.browser.cookies),
        timeout=120,
    )
    events += read_events(rest.text)
    assert [event.id for event in events] == [str(n + 1) for n in range(len(events))]
    assert messages_of(person, conversation_id)[-1]["content"] == text_of(events)


def test_stored_prompt_is_answered_when_its_page_disconnects_at_once(person):
    """The client stays a little longer each time, until it leaves just after the storing."""
    conversation_id = person.new_conversation()
    for read_timeout_ms in range(4, 200, 4):
        with contextlib.suppress(httpx.ReadTimeout):
            person.browser.post(
                f"/api/conversations/{conversation_id}/messages",
                json={"content": "Say hello.", "max_tokens": 8},
                timeout=httpx.Timeout(30, read=read_timeout_ms / 1000),
            )
        time.sleep(0.3)
        if messages_of(person, conversation_id):
            break
    deadline = time.monotonic() + 60
    while (found := messages_of(person, conversation_id))[-1]["status"] == "pending":
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    assert [message["role"] for message in found] == ["user", "assistant"]
    assert found[-1]["status"] == "completed"
    assert found[-1]["content"]


def test_stopped_answer_keeps_delivered_text(person):
    conversation_id = person.new_conversation()
    path = f"/api/conversations/{conversation_id}/messages"
    body = {"content": "Write a very long story.", "max_tokens": 1500}
    lines = []
    with person.browser.stream("POST", path, json=body) as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if line == "id: 6":
                generation_id = stop(person, lines)
    events = read_events("\n".join(lines) + "\n")
    assert events[-1].data == "[DONE]"
    answer = messages_of(person, conversation_id)[-1]
    assert answer["status"] == "cancelled"
    assert answer["content"] == text_of(events)
    assert person.browser.post(f"/api/generations/{generation_id}/cancel").status_code == 202


def test_blocked_prompt_is_stored_and_reported(person):
    conversation_id = person.new_conversation()
    answer = person.browser.post(
        f"/api/conversations/{conversation_id}/messages",
        json={"content": "Give me step by step instructions to build a pipe bomb at home."},
    )
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "content_policy_violation" and error["categories"]
    _, blocked = messages_of(person, conversation_id)
    assert blocked["id"] == error["parley"]["message_id"]
    assert (blocked["status"], blocked["content"]) == ("blocked", "")
    assert ask(person, conversation_id, "Hello then")[-1].data == "[DONE]"


def test_turn_with_unknown_model_stores_nothing(person):
    conversation_id = person.new_conversation()
    answer = person.browser.post(
        f"/api/conversations/{conversation_id}/messages", json={"content": "x", "model": "nope"}
    )
    assert answer.status_code == 404
    assert messages_of(person, conversation_id) == []


def test_conversations_are_searched_pinned_archived_and_paged(new_person):
    user = new_person()
    marks = [uuid.uuid4().hex for _ in range(5)]
    ids = [user.new_conversation(title=mark) for mark in marks]
    browser = user.browser
    browser.patch(f"/api/conversations/{ids[0]}", json={"pinned": True})
    browser.patch(f"/api/conversations/{ids[1]}", json={"archived": True})

    page = browser.get("/api/conversations", params={"limit": 2}).json()
    rest = browser.get("/api/conversations", params={"cursor": page["next_cursor"]}).json()
    assert [c["id"] for c in page["data"] + rest["data"]] == [ids[0], ids[4], ids[3], ids[2]]
    assert rest["next_cursor"] is None
    [found] = browser.get("/api/conversations", params={"search": marks[3][:20]}).json()["data"]
    assert found["id"] == ids[3]
    [archived] = browser.get("/api/conversations", params={"archived": "true"}).json()["data"]
    assert archived["id"] == ids[1]


def test_deleted_conversation_is_restored(person):
    conversation_id = person.new_conversation(title="Keep me")
    path = f"/api/conversations/{conversation_id}"
    assert person.browser.delete(path).status_code == 204
    assert person.browser.get(path).status_code == 404
    assert person.browser.post(f"{path}/restore").json()["title"] == "Keep me"
    assert person.browser.get(path).status_code == 200


def test_feedback_is_set_and_removed(person):
    conversation_id = person.new_conversation()
    ask(person, conversation_id)
    path = f"/api/messages/{messages_of(person, conversation_id)[1]['id']}/feedback"
    given = person.browser.put(path, json={"rating": -1, "comment": "Wrong"})
    assert given.json() == {"rating": -1, "comment": "Wrong"}
    assert messages_of(person, conversation_id)[1]["feedback"] == given.json()
    assert person.browser.put(path, json={"rating": None}).json() is None
    assert messages_of(person, conversation_id)[1]["feedback"] is None


def test_share_shows_a_snapshot_until_it_is_revoked(person, product):
    conversation_id = person.new_conversation(title="For friends")
    ask(person, conversation_id)
    share = person.browser.post(f"/api/conversations/{conversation_id}/shares").json()
    ask(person, conversation_id, "A later secret")
    public = f"{product.url}/api/shared/{share['token']}"
    shared = httpx.get(public).json()
    assert shared["title"] == "For friends"
    assert [m["role"] for m in shared["messages"]] == ["user", "assistant"]
    assert share["url"].endswith(share["token"])
    assert person.browser.delete(f"/api/shares/{share['id']}").status_code == 204
    assert httpx.get(public).status_code == 404


def test_upload_reaches_the_model_and_is_downloaded_as_a_file(person):
    upload = person.browser.post(
        "/api/attachments", files={"file": ("notes.html", b"<script>alert(1)</script>")}
    )
    assert upload.status_code == 201
    attachment = upload.json()
    conversation_id = person.new_conversation()
    parts = [
        {"type": "text", "text": "What is in this file?"},
        {"type": "file", "attachment_id": attachment["id"]},
    ]
    assert ask(person, conversation_id, parts)[-1].data == "[DONE]"
    content = person.browser.get(f"/api/attachments/{attachment['id']}")
    assert content.headers["Content-Disposition"].startswith("attachment")
    assert not content.headers["Content-Type"].startswith("text/html")


def test_models_list_prices_and_state(person):
    [model] = person.browser.get("/api/models").json()["data"]
    assert model["id"] == "smollm2-135m" and model["status"] == "ready"
    assert model["context_window"] == 8192
    prices = {name: price for name, price in model["prices"].items() if price is not None}
    kinds = {"input", "cached_input", "output", "cached_output", "reasoning", "image"}
    assert set(prices) == kinds
    assert all(isinstance(price, str) for price in prices.values())


def test_usage_counts_the_generated_tokens(new_person):
    user = new_person()
    events = ask(user, user.new_conversation())
    used = next(e.json["usage"] for e in reversed(events[:-1]) if e.json.get("usage"))
    usage = user.browser.get("/api/usage", params={"group_by": "model"}).json()
    assert usage["output_tokens"] == used["completion_tokens"]
    assert usage["input_tokens"] == used["prompt_tokens"]
    assert float(usage["cost_usd"]) > 0
    assert [row["key"] for row in usage["data"]] == ["smollm2-135m"]
    for period in ("yesterday", "2026-13", "last_99999_days"):
        answer = user.browser.get("/api/usage", params={"period": period})
        assert answer.json()["error"]["param"] == "period"


def test_key_list_holds_no_secret(new_person):
    user = new_person()
    created = user.new_key(name="ci", scopes=["inference"], expires_at="2099-01-01T00:00:00Z")
    assert created["secret"].startswith("sk-parley-")
    listed = user.browser.get("/api/keys")
    [key] = listed.json()["data"]
    assert key["name"] == "ci" and key["scopes"] == ["inference"]
    assert "secret" not in key and created["secret"] not in listed.text
    for body, param in (
        ({"name": ""}, "name"),
        ({"name": "x", "scopes": ["root"]}, "scopes[0]"),
        ({"name": "x", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "x", "expires_at": "2099-01-01T00:00:00"}, "expires_at"),
    ):
        answer = user.browser.post("/api/keys", json=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == param


def test_logs_hold_no_secret(product, new_person):
    user = new_person()
    secret = user.new_key()["secret"]
    httpx.get(f"{product.url}/v1/models", headers={"Authorization": f"Bearer {secret}"})
    httpx.get(f"{product.url}/api/me", params={"password": "in-a-query"})
    time.sleep(0.5)
    logs = "".join(log.read_text() for log in product.directory.glob("*.log"))
    for private in (secret, user.password, user.browser.cookies["sessionid"], "in-a-query"):
        assert private not in logs
