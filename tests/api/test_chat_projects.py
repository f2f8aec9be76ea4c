"""The project of a chat: chosen by the person, and its rules hold for the chat."""

import pytest

from tests.api.test_chat_page import ask
from tests.api.users import program

pytestmark = pytest.mark.model


def new_project(user, name: str) -> str:
    answer = user.browser.post("/api/projects", json={"name": name})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def refusal(user, conversation_id: str) -> tuple[int, str]:
    answer = user.browser.post(
        f"/api/conversations/{conversation_id}/messages", json={"content": "Hi", "max_tokens": 4}
    )
    return answer.status_code, answer.json()["error"]["code"]


def test_rules_of_its_project_bind_a_chat_and_its_usage_is_the_projects(new_person):
    user = new_person()
    project = new_project(user, "Research")
    chat = user.new_conversation(project_id=project)
    ask(user, chat, max_tokens=4)
    usage = user.browser.get("/api/usage", params={"group_by": "project"}).text
    assert project in usage

    path = f"/api/projects/{project}"
    user.browser.patch(path, json={"allowed_models": ["another"]})
    assert refusal(user, chat) == (403, "model_not_found")
    user.browser.patch(path, json={"allowed_models": []})
    [model] = {one["id"] for one in user.browser.get("/api/models").json()["data"]} & {
        user.browser.get(f"/api/conversations/{chat}").json()["model"]
    }
    limits = {"requests_per_minute": 1, "tokens_per_minute": 100_000}
    user.browser.put(f"{path}/rate-limits/{model}", json=limits)
    ask(user, chat, max_tokens=4)
    assert refusal(user, chat)[0] == 429

    user.browser.post(f"{path}/archive")
    assert refusal(user, chat) == (403, "project_unavailable")
    default = next(
        one["id"] for one in user.browser.get("/api/projects").json()["data"] if one["is_default"]
    )
    moved = user.browser.patch(f"/api/conversations/{chat}", json={"project_id": default})
    assert moved.json()["project_id"] == default
    ask(user, chat, max_tokens=4)


def test_budget_of_its_project_binds_a_chat_and_a_refused_turn_bills_nothing(new_person, product):
    user = new_person()
    project = new_project(user, "Research")
    chat, elsewhere = user.new_conversation(project_id=project), user.new_conversation()
    budget = {"amount": "0", "is_hard": True, "project_id": project}
    set_to = user.browser.post("/api/budgets", json=budget)
    assert set_to.status_code == 200, set_to.text
    assert refusal(user, chat) == (429, "insufficient_quota")
    ask(user, elsewhere, max_tokens=4)  # another project is not bound by it
    used = product.rows(
        "SELECT project_id::text, count(*) FROM billing_usagerecord WHERE organization_id = %s"
        " GROUP BY 1",
        [user.organization_id],
    )
    assert [(row["project_id"] == project, row["count"]) for row in used] == [(False, 1)]
    left = product.rows("SELECT state FROM generation_generation WHERE project_id = %s", [project])
    assert left == []
    assert user.browser.delete(f"/api/budgets/{set_to.json()['id']}").status_code == 204
    ask(user, chat, max_tokens=4)


def test_chat_goes_to_no_project_of_others_or_of_another_key(new_person, product):
    user, other = new_person(), new_person()
    foreign = new_project(other, "Theirs")
    second = new_project(user, "Second")
    chat = user.new_conversation()
    with program(product.url, user.new_key()["secret"]) as client:
        for project in (foreign, second):
            made = client.post("/api/conversations", json={"project_id": project})
            assert (made.status_code, made.json()["error"]["param"]) == (404, "project_id")
    for path, method in (("/api/conversations", "POST"), (f"/api/conversations/{chat}", "PATCH")):
        answer = user.browser.request(method, path, json={"project_id": foreign})
        assert (answer.status_code, answer.json()["error"]["param"]) == (404, "project_id")
