"""Assistants, as the page reads and writes them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.accounts.principal import Principal
from backend.api.schemas.base import ModelName, RequestModel, ResponseModel
from backend.api.schemas.conversations import ID, ChatParameters
from backend.api.schemas.teams import RoleName
from backend.api.schemas.tools import ToolKind
from backend.conversations.assistant_access import may_edit
from backend.conversations.assistant_models import Assistant
from backend.conversations.assistants import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_STARTER_LENGTH,
    MAX_STARTERS,
)
from backend.conversations.instructions import MAX_OF_CHAT
from backend.tools.assistants import MAX_TOOLS
from backend.tools.models import Tool

AssistantName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)
]
Starter = Annotated[str, Field(max_length=MAX_STARTER_LENGTH)]
Roles = Annotated[list[RoleName], Field(max_length=10)]


class AssistantToolBody(RequestModel):
    server_id: ID
    name: Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00]*$")]


class AssistantUpdate(RequestModel):
    """Absent fields stay as they are; a list replaces the one before."""

    name: AssistantName | None = None
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION)
    instructions: str | None = Field(
        default=None,
        max_length=MAX_OF_CHAT,
        description="What the model reads before the messages of each of its chats.",
    )
    model: ModelName | None = Field(
        default=None, description="That its chats begin with; null: the model of the person."
    )
    parameters: ChatParameters | None = Field(
        default=None, description="What its chats begin with. Replaces all of them."
    )
    starters: Annotated[list[Starter], Field(max_length=MAX_STARTERS)] | None = Field(
        default=None, description="Prompts that an empty chat with it offers."
    )
    tools: Annotated[list[AssistantToolBody], Field(max_length=MAX_TOOLS)] | None = Field(
        default=None,
        description="What its chats may call, of the tools that the organization allows; null:"
        " what the person has switched on.",
    )
    seen_by: Roles | None = Field(
        default=None, description="Roles of the organization that see and use it. Empty: nobody."
    )
    edited_by: Roles | None = Field(
        default=None, description="Roles that change and delete it too; they see it by that."
    )


class AssistantCreate(AssistantUpdate):
    name: AssistantName


class AssistantToolOut(ResponseModel):
    server_id: UUID
    kind: ToolKind
    server: str
    name: str
    title: str

    @classmethod
    def of(cls, tool: Tool) -> "AssistantToolOut":
        return cls.model_validate(
            {
                "server_id": tool.server_id,
                "kind": tool.server.kind,
                "server": tool.server.name,
                "name": tool.name,
                "title": tool.title or tool.name,
            }
        )


class UsableToolsOut(ResponseModel):
    data: list[AssistantToolOut]


class AssistantOut(ResponseModel):
    id: UUID
    name: str
    description: str
    instructions: str
    model: str | None = Field(description="Null: the model of the person.")
    parameters: ChatParameters
    starters: list[str]
    tools: list[AssistantToolOut] | None = Field(
        description="What its chats may call; null: what the person has switched on."
    )
    seen_by: list[str]
    edited_by: list[str]
    author: str = Field(description="The name of who made it.")
    own: bool
    may_edit: bool
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(
        cls, assistant: Assistant, principal: Principal, tools: list[Tool] | None
    ) -> "AssistantOut":
        """As `principal`, who sees it, is shown it, with the tools that it names."""
        return cls(
            id=assistant.id,
            name=assistant.name,
            description=assistant.description,
            instructions=assistant.instructions,
            model=assistant.model or None,
            parameters=ChatParameters.model_validate(assistant.parameters),
            starters=assistant.starters,
            tools=None if tools is None else [AssistantToolOut.of(tool) for tool in tools],
            seen_by=assistant.seen_by,
            edited_by=assistant.edited_by,
            author=assistant.user.name or assistant.user.email,
            own=assistant.user_id == principal.user_id,
            may_edit=may_edit(principal, assistant),
            created_at=assistant.created_at,
            updated_at=assistant.updated_at,
        )


class AssistantPageOut(ResponseModel):
    data: list[AssistantOut]
    next_cursor: str | None
