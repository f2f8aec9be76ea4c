"""Tools of the page: servers as managers set them, switches, calls and decisions."""

import json
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.api.schemas.base import RequestModel, ResponseModel
from backend.tools.approvals import may_always
from backend.tools.models import RoundState, Tool, ToolCall, ToolGrant, ToolServer
from backend.tools.oauth.connections import connection_of
from backend.tools.python_tool import LIMIT_S, Outcome, Ran, program_of
from backend.tools.rounds import arguments_of
from backend.tools.servers import GivenClient
from backend.tools.types import MAX_RESULT, Source

_NOT_NULL = r"^[^\x00]*$"  # PostgreSQL stores no null character
ServerName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=_NOT_NULL),
]
ServerUrl = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=_NOT_NULL),
]
Token = Annotated[str, StringConstraints(strip_whitespace=True, max_length=4_000)]


Auth = Literal["token", "oauth_person", "oauth_organization"]
ClientId = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=1000, pattern=_NOT_NULL)
]
ClientSecret = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=4_000, pattern=_NOT_NULL)
]


class GivenClientBody(RequestModel):
    client_id: Annotated[ClientId, Field(min_length=1)]
    client_secret: ClientSecret = ""

    @property
    def given(self) -> GivenClient:
        return GivenClient(self.client_id, self.client_secret)


class ToolServerCreate(RequestModel):
    name: ServerName
    url: ServerUrl
    token: Token = Field(default="", description="Sent as `Authorization: Bearer`; empty: none.")
    auth: Auth = Field(
        default="token",
        description="`token`: as above. `oauth_person`: each person signs in at the server;"
        " `oauth_organization`: an owner or admin does, for all.",
    )
    client: GivenClientBody | None = Field(
        default=None,
        description="Ours at the authorization server, where it registers none by itself.",
    )


class WebSearchCreate(RequestModel):
    """Where chats search the web. One for an organization."""

    provider: Literal["searxng", "brave", "tavily"]
    url: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = Field(
        default="", description="Of SearXNG; the others' own where it is empty."
    )
    token: Token = Field(default="", description="The provider's key.")


class ToolRuleBody(RequestModel):
    name: Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=_NOT_NULL)]
    allowed: bool
    needs_approval: bool
    fingerprint: Annotated[str, StringConstraints(max_length=64)] = Field(
        default="",
        description="Of the definition that you looked at. A tool that is held is allowed by it"
        " only; 409 where it is another by now.",
    )


class ToolServerUpdate(RequestModel):
    """Absent fields stay as they are."""

    name: ServerName | None = None
    url: ServerUrl | None = Field(
        default=None,
        description="Another one: it is switched off until `check` has reached it, its tools are"
        " allowed anew, and its token and sign-ins go.",
    )
    token: Token | None = None
    enabled: bool | None = None
    client: GivenClientBody | None = Field(
        default=None, description="Whoever was connected has to sign in again."
    )
    tools: Annotated[list[ToolRuleBody], Field(max_length=128)] = []


class ToolOut(ResponseModel):
    name: str
    title: str
    description: str
    allowed: bool
    needs_approval: bool
    claims_read_only: bool = Field(description="What the server says of it; nothing rests on it.")
    claims_destructive: bool
    fingerprint: str = Field(description="Of this definition.")
    held_for: list[Literal["orders", "changed"]] = Field(
        description="Why no model is given it before somebody has looked at it and allows it by its"
        " fingerprint: it reads like orders to a model; it is not what was allowed."
    )
    orders: str = Field(description="What of it reads like orders.")
    allowed_text: str = Field(description="What it said of itself when it was last allowed.")
    parameters: str = Field(description="Of one that is held, its schema as JSON.")

    @classmethod
    def of(cls, row: Tool) -> "ToolOut":
        held_for = row.held_for
        schema = json.dumps(row.input_schema, ensure_ascii=False, indent=1) if held_for else ""
        return cls.model_validate(
            {
                "name": row.name,
                "title": row.title,
                "description": row.description,
                "allowed": row.is_allowed,
                "needs_approval": row.needs_approval,
                "claims_read_only": row.claims_read_only,
                "claims_destructive": row.claims_destructive,
                "fingerprint": row.fingerprint,
                "held_for": held_for,
                "orders": row.orders or "",
                "allowed_text": row.allowed_text,
                "parameters": schema,
            }
        )


class ToolConnectionOut(ResponseModel):
    """How somebody stands with a server that is signed in at."""

    state: Literal["not_connected", "connected", "expired", "refused"]
    account: str = Field(description="As the server names it; else who of here signed in.")
    error: str = Field(description="Why it is expired or refused.")
    connected_at: datetime | None

    @classmethod
    def of(cls, server: ToolServer, user_id: UUID | None) -> "ToolConnectionOut | None":
        """None where nobody signs in. Reads the database."""
        if not server.has_sign_in:
            return None
        row = connection_of(server, user_id)
        if row is None:
            return cls(state="not_connected", account="", error="", connected_at=None)
        by = row.connected_by
        return cls.model_validate(
            {
                "state": row.state,
                "account": row.account or (by.email if by is not None else ""),
                "error": row.error,
                "connected_at": row.connected_at,
            }
        )


ToolKind = Literal["mcp", "searxng", "brave", "tavily", "python"]
"""Of all but `mcp` the page has words of its own."""


class ToolServerOut(ResponseModel):
    id: UUID
    kind: ToolKind
    name: str
    url: str
    has_token: bool
    auth: Auth
    connection: ToolConnectionOut | None = Field(
        description="Yours, or the organization's; null where nobody signs in."
    )
    enabled: bool
    checked_at: datetime | None
    error: str = Field(description="Why its tools could not be read; empty where they could.")
    error_code: str = Field(
        description="`tool_failed`, `tool_timeout`, `tool_sign_in_needed` or `tool_sign_in_failed`;"
        " empty without an error, and of errors before this field was there."
    )
    tools: list[ToolOut]

    @classmethod
    def of(cls, row: ToolServer, user_id: UUID | None) -> "ToolServerOut":
        """As this manager is shown it. Reads the database."""
        tools = sorted(row.tools.all(), key=lambda tool: tool.name)
        return cls.model_validate(
            {
                "id": row.id,
                "kind": row.kind,
                "name": row.name,
                "url": row.url,
                "has_token": bool(row.encrypted_token),
                "auth": row.auth,
                "connection": ToolConnectionOut.of(row, user_id),
                "enabled": row.is_enabled,
                "checked_at": row.checked_at,
                "error": row.error,
                "error_code": row.error_code,
                "tools": [ToolOut.of(tool) for tool in tools],
            }
        )


class ToolServerListOut(ResponseModel):
    data: list[ToolServerOut]


class UsableServerOut(ResponseModel):
    id: UUID
    kind: Literal["mcp", "python"]
    name: str
    on: bool
    tools: list[str]
    auth: Auth
    connection: ToolConnectionOut | None = Field(
        description="Yours, or the organization's; null where nobody signs in."
    )

    @classmethod
    def of(cls, row: ToolServer, is_on: bool, user_id: UUID | None) -> "UsableServerOut":
        """Reads the database."""
        allowed = sorted(tool.title or tool.name for tool in row.tools.all() if tool.is_allowed)
        return cls.model_validate(
            {
                "id": row.id,
                "kind": row.kind,
                "name": row.name,
                "on": is_on,
                "tools": allowed,
                "auth": row.auth,
                "connection": ToolConnectionOut.of(row, user_id),
            }
        )


class ToolGrantOut(ResponseModel):
    id: int
    kind: ToolKind
    server: str
    name: str
    title: str
    created_at: datetime

    @classmethod
    def of(cls, row: ToolGrant) -> "ToolGrantOut":
        tool = row.tool
        return cls.model_validate(
            {
                "id": row.pk,
                "kind": tool.server.kind,
                "server": tool.server.name,
                "name": tool.name,
                "title": tool.title or tool.name,
                "created_at": row.created_at,
            }
        )


class MyToolsOut(ResponseModel):
    servers: list[UsableServerOut]
    web_search: bool = Field(description="Whether a chat can be let search the web.")
    always: list[ToolGrantOut] = Field(description="What is called without asking, in every chat.")


class ToolSwitch(RequestModel):
    on: bool


class ToolSignInBegin(RequestModel):
    page: Literal["settings", "organization"] = Field(
        default="settings", description="Where the browser comes back to."
    )


class ToolSignInBegun(ResponseModel):
    url: str = Field(description="Of the authorization server: the browser goes there.")


class ToolDecision(RequestModel):
    decision: Literal["once", "chat", "always", "deny"]


class ProgramRunOut(ResponseModel):
    """A page's own claim to a program."""

    run_id: UUID
    code: str
    limit_s: int = Field(description="It is ended after that.")

    @classmethod
    def of(cls, row: ToolCall) -> "ProgramRunOut":
        code = program_of(arguments_of(row) or {}) or ""
        return cls.model_validate({"run_id": row.run_id, "code": code, "limit_s": LIMIT_S})


RunId = Annotated[UUID, Field(strict=False)]


class ProgramRunBody(RequestModel):
    run_id: RunId


_FileName = Annotated[str, StringConstraints(max_length=255)]


class ProgramResult(RequestModel):
    """What came of a program: what it printed, its traceback too, and the names of the files that
    it wrote."""

    run_id: RunId
    outcome: Outcome
    output: Annotated[str, StringConstraints(max_length=MAX_RESULT)] = ""
    files: Annotated[list[_FileName], Field(max_length=50)] = []

    @property
    def ran(self) -> Ran:
        return Ran(self.outcome, self.output, self.files)


class WebSourceOut(ResponseModel):
    title: str
    url: str = Field(description="https.")


class ToolCallOut(ResponseModel):
    id: UUID
    message_id: UUID
    call_id: str = Field(description="Of the part of the message.")
    server: str
    tool: str
    web: Literal["search", "fetch"] | None = Field(
        description="Which of the organization's web tools it is; null for an MCP server's."
    )
    of_page: bool = Field(description="A page of its person runs it, as a program.")
    status: Literal["waiting", "due", "running", "done", "failed", "denied", "cancelled"]
    arguments: str
    result: str
    withheld: bool = Field(
        description="Whether the model is not given the result, because it reads like orders."
    )
    withheld_in_part: bool = Field(description="It is given the rest of the result.")
    sources: list[WebSourceOut] = Field(description="The pages of the web that it is from.")
    decision: str
    may_always: bool
    is_current: bool = Field(description="Whether it is of the answer that the chat ends with.")
    goes_on: bool = Field(description="Whether calls are being made: a stop would end them.")

    @classmethod
    def of(cls, row: ToolCall) -> "ToolCallOut":
        message_id = row.round_id
        return cls.model_validate(
            {
                "id": row.pk,
                "message_id": message_id,
                "call_id": row.call_id,
                "server": row.server_name,
                "tool": (row.tool.title if row.tool else "") or row.tool_name,
                "web": row.tool_name if row.tool and row.tool.server.is_web else None,
                "of_page": row.is_of_page,
                "status": row.status,
                "arguments": row.arguments,
                "result": row.result,
                "withheld": row.is_withheld,
                "withheld_in_part": row.is_withheld_in_part,
                "sources": _linked(row.sources),
                "decision": row.decision,
                "may_always": may_always(row),
                "is_current": row.round.message.conversation.active_message_id == message_id,
                "goes_on": row.round.state == RoundState.CALLING,
            }
        )


def _linked(sources: list[Source]) -> list[WebSourceOut]:
    """Those that a page of ours may link to."""
    return [WebSourceOut(**one) for one in sources if one["url"].startswith("https://")]


class ToolCallListOut(ResponseModel):
    data: list[ToolCallOut]
