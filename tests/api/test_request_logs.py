"""Requests of API keys: counted always, logged where the organization wants that, read by few."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from backend.accounts.data_policy import data_policy_set
from backend.accounts.models import APIKey, Project
from backend.accounts.projects import project_update
from backend.api.models import RequestCount, RequestLog
from backend.api.request_content import content_encrypt
from backend.api.request_logs.rows import request_logs_purge
from backend.platform.encryption import Unreadable
from tests.api.users import Person, program, sign_up
from tests.factories import member
from tests.support.scripted import ScriptedProduct

POLICY = {"retention_days": None, "stores_api_calls": True, "allows_training": True}
SAID = "A marmalade answer."
CHAT = {"model": "auto", "messages": [{"role": "user", "content": 'Why "violet"?'}]}


def eventually(found: Callable[[], Any]) -> Any:
    """What is written a second after its request."""
    deadline = time.monotonic() + 20
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return value


def logs(person: Person, **params: Any) -> list[dict[str, Any]]:
    answer = person.browser.get("/api/request-logs", params=params)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


def test_requests_are_logged_searched_and_shown_to_those_who_may(
    scripted_product: ScriptedProduct,
) -> None:
    url = scripted_product.url
    scripted_product.says(SAID)
    owner, other_user = sign_up(url), sign_up(url)
    changed = owner.browser.put("/api/data-policy", json={**POLICY, "logs_requests": True})
    assert changed.json()["logs_requests"] and changed.json()["request_log_days"] == 30
    key, silent = owner.new_key(), other_user.new_key()
    of_key = {"key_id": key["id"]}
    with program(url, key["secret"]) as client, program(url, silent["secret"]) as unlogged:
        assert client.post("/v1/chat/completions", json=CHAT).status_code == 200
        assert client.post("/v1/chat/completions", json={**CHAT, "stream": True}).text
        message = {**CHAT, "max_tokens": 9, "system": "Be brief.", "stream": True}
        assert client.post("/v1/messages", json=message).text
        response = {"model": "auto", "input": "Why?", "store": False}
        assert client.post("/v1/responses", json=response).status_code == 200
        assert client.post("/v1/chat/completions", json={"model": "auto"}).status_code == 400
        assert unlogged.post("/v1/chat/completions", json=CHAT).status_code == 200
    rows = eventually(lambda: (found := logs(owner, **of_key))[4:] and found)
    assert [(row["path"], row["status"], row["code"]) for row in rows] == [
        ("/v1/chat/completions", 400, "missing_required_parameter"),
        ("/v1/responses", 200, ""),
        ("/v1/messages", 200, ""),
        ("/v1/chat/completions", 200, ""),
        ("/v1/chat/completions", 200, ""),
    ]
    assert rows[3]["output_tokens"] > 0 and rows[3]["model"] == "auto"

    def shown(row: dict[str, Any], who: Person = owner) -> Any:
        return who.browser.get(f"/api/request-logs/{row['id']}")

    for row in rows[3:]:
        view = shown(row).json()
        assert view["answer"]["choices"][0]["message"]["content"].strip() == SAID
        assert view["chat"] == CHAT
    message_view = shown(rows[2]).json()
    assert message_view["answer"]["content"][0]["text"].strip() == SAID
    assert message_view["chat"]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert shown(rows[1]).json()["request"] is None, "store: false outlives nothing"
    assert shown(rows[0]).json()["answer"]["error"]["param"] == "messages"

    assert [one["id"] for one in logs(owner, outcome="failed")] == [rows[0]["id"]]
    assert len(logs(owner, outcome="succeeded", model="auto")) == 4
    assert len(logs(owner, text='why "VIOLET"')) == 3
    assert len(logs(owner, text="marmalade", limit=2)) == 2
    first = owner.browser.get("/api/request-logs", params={"limit": 3}).json()
    rest = logs(owner, cursor=first["next_cursor"])
    assert [one["id"] for one in first["data"] + rest] == [row["id"] for row in rows]

    audit = owner.browser.get("/api/audit-log", params={"action": "content.accessed"}).json()
    targets = [(event["target_type"], event["target_id"]) for event in audit["data"]]
    assert ("request_log", rows[0]["id"]) in targets and ("request_log", "search") in targets

    colleague = sign_up(url, invitation=owner.new_invitation()["url"].partition("#")[2])
    for other in (other_user, colleague):
        assert not logs(other)
        assert not logs(other, **of_key)
        assert shown(rows[0], other).status_code == 404
        for part in ("", "/limits", "/outcomes"):
            assert other.browser.get(f"/api/keys/{key['id']}{part}").status_code == 404
        refused = other.browser.delete(f"/api/keys/{key['id']}/request-logs")
        assert refused.status_code == 404
    with program(url, key["secret"]) as client:
        assert client.get("/api/request-logs").status_code == 401, "a key reads no other's requests"

    outcomes = owner.browser.get(f"/api/keys/{key['id']}/outcomes").json()
    assert (outcomes["requests"], outcomes["failed"]) == (5, 1)
    counted = f"/api/keys/{silent['id']}/outcomes"
    assert eventually(lambda: other_user.browser.get(counted).json()["requests"]) == 1
    assert owner.browser.delete(f"/api/keys/{key['id']}/request-logs").status_code == 204
    assert not logs(owner)


def test_limits_of_a_key_are_what_its_next_answer_says(scripted_product: ScriptedProduct) -> None:
    owner = sign_up(scripted_product.url)
    key = owner.new_key()
    path = f"/api/keys/{key['id']}/limits"
    [whole, *_] = owner.browser.get(path).json()["data"]
    assert whole["requests_remaining"] == whole["requests_limit"]
    with program(scripted_product.url, key["secret"]) as client:
        answer = client.post("/v1/chat/completions", json=CHAT)
    scopes = owner.browser.get(path).json()["data"]
    assert {scope["holder"] for scope in scopes} == {"organization", "user", "API key"}
    for scope in scopes:
        left = int(answer.headers["x-ratelimit-remaining-requests"])
        assert scope["requests_remaining"] in {left, left + 1}  # time gives back
        assert 0 < scope["requests_reset_s"] <= 60
        assert scope["tokens_limit"] == int(answer.headers["x-ratelimit-limit-tokens"])
        # What the answer did not use was given back, and time gives back the rest.
        used = int(answer.headers["x-ratelimit-remaining-tokens"])
        assert used <= scope["tokens_remaining"] <= scope["tokens_limit"]
        assert scope["concurrent_running"] == 0


@pytest.mark.django_db
def test_logged_requests_go_when_their_time_is_over() -> None:
    owner = member(role="owner")
    key = APIKey.objects.create(
        organization_id=owner.organization_id,
        project_id=owner.project_id,
        created_by_id=owner.user_id,
        name="k",
        prefix="p",
        sha256="0" * 64,
    )

    def log(days: float) -> RequestLog:
        row = RequestLog(
            organization_id=owner.organization_id,
            project_id=owner.project_id,
            user_id=owner.user_id,
            api_key=key,
            path="/v1/messages",
            status=200,
            duration_ms=1,
            created_at=timezone.now() - timedelta(days=days),
        )
        content = {"request": {"a": "words"}, "answer": None}
        place = {"organization_id": row.organization_id, "log_id": row.pk}
        row.ciphertext = content_encrypt(content, **place)
        row.save()
        return row

    def keep(**changes: Any) -> None:
        data_policy_set(principal=owner, **{**POLICY, "logs_requests": True, **changes})

    keep(request_log_days=7)
    old, new = log(8), log(2)
    assert "words" not in new.ciphertext
    assert new.content == {"request": {"a": "words"}, "answer": None}
    moved = RequestLog(pk=old.pk, organization_id=new.organization_id, ciphertext=new.ciphertext)
    with pytest.raises(Unreadable):
        assert moved.content
    request_logs_purge()
    assert list(RequestLog.objects.all()) == [new]
    keep(retention_days=1)
    request_logs_purge()
    assert not RequestLog.objects.exists()
    keep()
    log(0)
    project_update(principal=owner, project_id=owner.project_id, logs_requests=False)
    request_logs_purge()
    assert not RequestLog.objects.exists()
    Project.objects.update(logs_requests=True)
    log(0)
    keep(logs_requests=False)
    quarter = timezone.now() - timedelta(days=93)
    RequestCount.objects.create(
        organization_id=owner.organization_id, api_key=key, hour=quarter, path="/", status=200
    )
    request_logs_purge()
    assert not RequestLog.objects.exists() and not RequestCount.objects.exists()
