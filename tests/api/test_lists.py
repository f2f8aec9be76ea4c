"""Every list of the API is given in pages, or is named here with what bounds it."""

from typing import Any

from backend.accounts.announcements import MAX_SHOWN
from backend.accounts.models import Role
from backend.accounts.projects import MAX_MODELS
from backend.accounts.sessions import SESSIONS_SHOWN
from backend.api.application import api
from backend.conversations.memories import MAX_MEMORIES
from backend.conversations.search import MAX_FOUND
from backend.conversations.shared_files import MAX_FILES
from backend.conversations.tags import MAX_LISTED
from backend.tools.approvals import MAX_LISTED as TOOL_CALLS_SHOWN
from backend.tools.servers import MAX_SERVERS
from billing.webhooks.services import MAX_ENDPOINTS

BOUNDED = {
    "/api/assistants/{assistant_id}/files": f"{MAX_FILES} of an assistant",
    "/api/assistants/tools": "the tools of an organization's servers, of which each has 128",
    "/api/announcements": f"the newest {MAX_SHOWN}",
    "/api/audit-log/actions": "the actions that the code records",
    "/api/conversations/search": f"the best {MAX_FOUND}: a rank is no place to go on from",
    "/api/conversations/{conversation_id}/tool-calls": f"the newest {TOOL_CALLS_SHOWN}",
    "/api/conversations/tags": f"the {MAX_LISTED} most used",
    "/api/keys/{key_id}/limits": "the kinds of limits",
    "/api/keys/{key_id}/outcomes": "a report of 90 days at most: a row for each path and error",
    "/api/me/sessions": f"the newest {SESSIONS_SHOWN}",
    "/api/memories": f"{MAX_MEMORIES} of a person",
    "/api/messages/{message_id}/sources": "passages that fit into a model's window",
    "/api/messages/{message_id}/withheld": "files of what fits into a model's window",
    "/api/models": "the pools that this installation serves",
    "/api/organization/tool-servers": f"{MAX_SERVERS} of an organization",
    "/api/projects/{project_id}/files": f"{MAX_FILES} of a project",
    "/api/projects/{project_id}/rate-limits": f"{MAX_MODELS} models of a project",
    "/api/usage": "a report of a month at most: a row for each day, model, key, user or project",
    "/api/webhooks": f"{MAX_ENDPOINTS} of an organization",
    "/v1/models": "the pools that this installation serves; OpenAI's has no page either",
    "/v1/organization/groups/{group_id}/roles": "a group gives one role",
    "/v1/organization/roles": f"{len(Role.values)} roles",
    "/v1/organization/users/{user_id}/roles": "a person has one role",
}
PLACES = {"cursor", "after", "after_id", "page"}


def answers_a_list(operation: dict[str, Any], schemas: dict[str, Any]) -> bool:
    """A field `data` that is an array; or the name says so, where no schema does."""
    answer = operation["responses"].get("200", {}).get("content", {})
    shape = answer.get("application/json", {}).get("schema", {})
    shape = schemas[shape["$ref"].rsplit("/")[-1]] if "$ref" in shape else shape
    data = shape.get("properties", {}).get("data", {})
    return "array" in (shape.get("type"), data.get("type")) or operation["operationId"].startswith(
        "list_"
    )


def in_pages(operation: dict[str, Any]) -> bool:
    """It takes a place to go on from, and a limit that has a limit, which usage checks by width."""
    parameters = {each["name"]: each["schema"] for each in operation.get("parameters", [])}
    bounded = "bucket_width" in parameters or "'maximum'" in str(parameters.get("limit"))
    return bounded and "limit" in parameters and bool(PLACES & parameters.keys())


def test_every_list_takes_a_page_or_is_bounded():
    document = api.get_openapi_schema()
    lists = {
        path: operations["get"]
        for path, operations in document["paths"].items()
        if "get" in operations
        and answers_a_list(operations["get"], document["components"]["schemas"])
    }
    unpaged = {path for path, operation in lists.items() if not in_pages(operation)}
    assert len(lists) > 40
    assert unpaged == BOUNDED.keys()
