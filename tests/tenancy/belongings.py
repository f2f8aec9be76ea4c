"""One object of every kind that an organization can own, made through the API."""

import secrets
import time
from dataclasses import dataclass
from typing import Any

import httpx

from tests.api.event_stream import read_events
from tests.api.users import Browser, Person, program, sign_up
from tests.tenancy.routes import ABSENT, UPLOAD


@dataclass(frozen=True)
class Belongings:
    """One object of every kind, by the name of its path parameter."""

    owner: Person
    ids: dict[str, Any]


def everything(url: str, text: str = "Private") -> Belongings:
    """A new organization with something of every kind, each holding `text` where it can."""
    owner = sign_up(url, text)
    browser = owner.browser
    policy = {"retention_days": None, "stores_api_calls": True, "allows_training": True}
    browser.put("/api/data-policy", json={**policy, "logs_requests": True})
    upload = browser.post("/api/attachments", files={"file": ("a.txt", f"{text} text".encode())})
    conversation_id = owner.new_conversation(title=text)
    turn = browser.post(
        f"/api/conversations/{conversation_id}/messages", json={"content": text, "max_tokens": 4}
    )
    assert turn.status_code == 200, turn.text
    ids = read_events(turn.text)[0].json["parley"]
    share = browser.post(f"/api/conversations/{conversation_id}/shares")
    memory = browser.post("/api/memories", json={"text": text})
    budget = browser.post("/api/budgets", json={"amount": "5"})
    key = owner.new_key(name=text)
    invited = f"{text.lower()}-{secrets.token_hex(4)}@example.org"
    return Belongings(
        owner,
        {
            "conversation_id": conversation_id,
            "message_id": ids["message_id"],
            "generation_id": ids["generation_id"],
            "token": ABSENT,  # a link is for anyone who has it (test_copies.py)
            "assistant_id": new_assistant(browser, text),
            "share_id": share.json()["id"],
            "memory_id": memory.json()["id"],
            "key_id": key["id"],
            "attachment_id": upload.json()["id"],
            "model_id": "auto",
            **new_program_things(url, key["secret"], text),
            "log_id": new_request_log(browser),
            "budget_id": budget.json()["id"],
            # Nothing is issued or delivered here; tests/billing has foreign ones.
            "invoice_id": "1",
            "endpoint_id": ABSENT,
            "delivery_id": ABSENT,
            "kind": "pdf",
            "user_id": owner.me["user"]["id"],
            "invitation_id": owner.new_invitation(email=invited)["id"],
            **new_project(browser, text),
            "rate_limit_id": "rl-smollm2-135m",
            "domain_id": new_domain(browser, text),
            "join_request_id": ABSENT,  # tests/accounts/test_domains.py has a foreign one
            "tool_server_id": new_tool_server(browser, text),
            # A call takes an answer that makes one: tests/api/test_tools.py has a foreign one.
            "tool_call_id": ABSENT,
            "tool_grant_id": "999999998",
            "session_id": browser.get("/api/me/sessions").json()["data"][0]["id"],
            "export_id": browser.post("/api/exports", json={}).json()["id"],
            **new_group(browser, text),
            "role_id": "owner",
            "announcement_id": "1",  # tests/accounts/test_operators.py has one of another plan
            # A passkey takes a browser; tests/api/test_passkeys.py has a foreign one.
            "passkey_id": "999999998",
        },
    )


def new_assistant(browser: Browser, text: str) -> str:
    """Shared with everybody of its organization."""
    shared = ["owner", "admin", "member", "finance", "viewer"]
    body = {"name": text, "instructions": text, "seen_by": shared, "edited_by": shared}
    made = browser.post("/api/assistants", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def new_domain(browser: Browser, text: str) -> str:
    added = browser.post("/api/organization/domains", json={"domain": f"{text.lower()}.example"})
    return str(added.json()["id"])


def new_tool_server(browser: Browser, text: str) -> str:
    server = {"name": text[:60], "url": "https://tools.example.org/mcp", "token": text}
    made = browser.post("/api/organization/tool-servers", json=server)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def new_group(browser: Browser, text: str) -> dict[str, str]:
    """Of the organization's directory, with the directory's token."""
    directory = browser.post("/api/organization/scim").json()
    group = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": text}
    with program(str(browser.base_url), directory["token"]) as client:
        made = client.post(
            "/api/scim/v2/Groups",
            json=group,
            headers={"Content-Type": "application/scim+json"},
        )
    assert made.status_code == 201, made.text
    return {"group_id": made.json()["id"]}


def new_project(browser: Browser, text: str) -> dict[str, Any]:
    project = browser.post("/api/projects", json={"name": text}).json()
    accounts = f"/api/projects/{project['id']}/service-accounts"
    account = browser.post(accounts, json={"name": text}).json()
    return {"project_id": project["id"], "service_account_id": account["id"]}


def new_program_things(url: str, secret: str, text: str) -> dict[str, str]:
    """What a program makes: a response, a stored completion, a file, an open upload, a batch, and
    a conversation of `/v1/conversations`, whose ids are those of `/api/conversations` with a
    prefix."""
    with program(url, secret) as client:
        # Keys that were never used before are limited by address.
        client.headers["X-Forwarded-For"] = f"198.51.100.{secrets.randbelow(256)}"
        asked = {"model": "auto", "input": text, "max_output_tokens": 4}
        response = client.post("/v1/responses", json=asked).json()
        items = [{"role": "user", "content": text}]
        chat = {"model": "auto", "messages": items, "max_tokens": 4, "store": True}
        completion = client.post("/v1/chat/completions", json=chat).json()
        begun = client.post("/v1/conversations", json={"items": items})
        assert begun.status_code == 200, begun.text
        made = begun.json()
        [item] = client.get(f"/v1/conversations/{made['id']}/items").json()["data"]
        content = {"file": (text, f'{{"text": "{text}"}}'.encode())}
        file = client.post("/v1/files", files=content, data={"purpose": "batch"}).json()
        upload = client.post("/v1/uploads", json={**UPLOAD, "filename": text})
        batch = client.post("/v1/batches", json=batch_of(file["id"]))
        assert batch.status_code == 200, batch.text
        wait_until_ended(client, batch.json()["id"])
    return {
        "response_id": str(response["id"]),
        "completion_id": str(completion["id"]),
        "openai_conversation_id": str(made["id"]),
        "item_id": str(item["id"]),
        "file_id": file["id"],
        "upload_id": upload.json()["id"],
        "batch_id": batch.json()["id"],
    }


def new_request_log(browser: Browser) -> str:
    """Of the key's requests, which are logged within seconds."""
    deadline = time.monotonic() + 30
    while not (rows := browser.get("/api/request-logs").json()["data"]):
        assert time.monotonic() < deadline, "no request was logged"
        time.sleep(0.1)
    return str(rows[-1]["id"])


def wait_until_ended(client: httpx.Client, batch_id: str) -> None:
    """The product works on a batch by itself: nobody else must seem to have changed it."""
    deadline = time.monotonic() + 120
    while client.get(f"/v1/batches/{batch_id}").json()["status"] not in ("failed", "completed"):
        assert time.monotonic() < deadline, "the batch did not end"
        time.sleep(0.1)


def batch_of(file_id: str) -> dict[str, str]:
    return {
        "input_file_id": file_id,
        "endpoint": "/v1/embeddings",
        "completion_window": "24h",
    }
