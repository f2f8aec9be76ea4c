"""Models, keys, usage, attachments, shares."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, PlainSerializer

from backend.accounts.models import APIKey
from backend.accounts.scopes import Scope
from backend.api.schemas.base import Name, RequestModel, ResponseModel
from backend.conversations.shares import DEFAULT_DAYS, MAX_DAYS

# Money as a decimal text: a JSON number would be read back as a float.
Money = Annotated[Decimal, PlainSerializer(lambda value: format(value, "f"), return_type=str)]


class PricesOut(ResponseModel):
    """US dollars per 1,000 tokens, begun seconds of recordings, characters spoken; null: it has no
    price for them."""

    input: Money | None
    cached_input: Money | None
    output: Money | None
    reasoning: Money | None = Field(
        description="Of thoughts; the output's without one of their own."
    )
    audio: Money | None
    characters: Money | None
    image: Money | None = Field(
        description="Of images that no cache had; the input's without one of their own."
    )
    cached_output: Money | None = Field(
        description="Of answers that were computed for another request; the output's without one"
        " of their own."
    )


class ModelOut(ResponseModel):
    id: str
    name: str
    context_window: int
    max_output_tokens: int
    capabilities: list[str]
    prices: PricesOut | None
    status: Literal["ready", "idle", "loading", "unavailable"] = Field(
        description="idle: it is loaded when it is asked for, and the request waits for it."
    )
    license: str = Field(description="An SPDX name; empty where the pools file says nothing.")
    notice: str


class QueuePlaceOut(ResponseModel):
    """Both are null for an answer that does not wait, or where it is not known."""

    position: int | None = Field(description="In the model's queue, from 1.")
    wait_s: float | None = Field(description="Seconds that it will probably wait.")


class PendingModelOut(ResponseModel):
    """A model that is being fetched or loaded; `declined`: it will not come, `detail` says why."""

    id: str
    name: str
    state: Literal["waiting", "fetching", "checking", "loading", "declined"]
    detail: str
    done_bytes: int
    total_bytes: int
    license: str
    notice: str


class ModelListOut(ResponseModel):
    data: list[ModelOut] = Field(description="The first is the default.")
    pending: list[PendingModelOut]


class KeyCreate(RequestModel):
    name: Name
    scopes: list[Annotated[Scope, Field(strict=False)]] = Field(
        default_factory=list, max_length=20, description="Empty: everything."
    )
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = None
    project_id: Annotated[UUID, Field(strict=False)] | None = Field(
        default=None, description="Without: the default project."
    )


class KeyOut(ResponseModel):
    id: UUID
    name: str
    prefix: str
    scopes: list[str]
    project_id: UUID
    project: str = Field(description="Its name.")
    created_by: str = Field(description="Name, or e-mail address, of whose it is.")
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None

    @classmethod
    def of(cls, key: APIKey) -> "KeyOut":
        """With `project` and `created_by` loaded, or outside the event loop."""
        return cls(
            id=key.id,
            name=key.name,
            prefix=key.prefix,
            scopes=key.scopes,
            project_id=key.project_id,
            project=key.project.name,
            created_by=key.created_by.get_full_name(),
            created_at=key.created_at,
            last_used_at=key.last_used_at,
            expires_at=key.expires_at,
        )


class NewKeyOut(KeyOut):
    secret: str = Field(description="Shown this once.")


class KeyListOut(ResponseModel):
    data: list[KeyOut]
    next_cursor: str | None


class UsageRowOut(ResponseModel):
    key: str
    label: str
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int = Field(description="Of the output, what models thought.")
    image_tokens: int = Field(description="Of the input, what images were and no cache had.")
    cached_output_tokens: int = Field(
        description="Of the output, what was computed for another request."
    )
    cost: Money = Field(description="Exact, in the summary's currency.")
    cost_usd: Money | None = Field(description="The same, where that is USD; else null.")


class UsageOut(ResponseModel):
    period: str
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int = Field(description="Of the output, what models thought.")
    image_tokens: int = Field(description="Of the input, what images were and no cache had.")
    cached_output_tokens: int = Field(
        description="Of the output, what was computed for another request."
    )
    currency: str = Field(description="What the organization pays in.")
    cost: Money = Field(description="Exact, in that currency.")
    cost_usd: Money | None = Field(description="The same, where that is USD; else null.")
    data: list[UsageRowOut]


class AttachmentOut(ResponseModel):
    id: UUID
    filename: str
    content_type: str
    size: int


class ShareCreate(RequestModel):
    expires_in_days: int = Field(DEFAULT_DAYS, ge=1, le=MAX_DAYS)


class ShareOut(ResponseModel):
    id: UUID
    title: str
    created_at: datetime
    expires_at: datetime


class NewShareOut(ShareOut):
    token: str = Field(description="Shown this once.")
    url: str


class ShareListOut(ResponseModel):
    data: list[ShareOut]
    next_cursor: str | None


class ListedShareOut(ResponseModel):
    id: UUID
    conversation_id: UUID | None = Field(description="Null for a colleague's link.")
    title: str | None = Field(description="Null for a colleague's link: what it shows is theirs.")
    created_by: str = Field(description="Name, or e-mail address, of who shares.")
    created_at: datetime
    expires_at: datetime


class SharePageOut(ResponseModel):
    data: list[ListedShareOut]
    next_cursor: str | None


class SharingOut(ResponseModel):
    is_allowed: bool
    default_days: int
    max_days: int


class SharingUpdate(RequestModel):
    is_allowed: bool


class SharedMessageOut(ResponseModel):
    id: str
    role: str
    content: str
    attachments: list[str] = Field(description="File names only.")
    created_at: datetime


class SharedOut(ResponseModel):
    title: str
    model: str
    created_at: datetime
    expires_at: datetime
    messages: list[SharedMessageOut]
