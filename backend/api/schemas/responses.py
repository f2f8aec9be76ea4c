"""The body of POST /v1/responses.

Source of names and bounds: OpenAI API reference, "Responses", and the types of the official Python
client. Function tools are the only tools; what else OpenAI runs itself (searches, files, computers,
MCP servers, custom tools) is refused by name.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)

from backend.api.schemas.base import (
    MAX_ITEMS,
    JsonObject,
    ModelName,
    RequestModel,
    Text,
    entries_at_most,
)
from backend.api.schemas.openai_messages import ImageURL
from backend.api.schemas.openai_parameters import (
    EndUser,
    ReasoningEffort,
    ServiceTier,
    refuse_by_name,
)
from backend.api.schemas.openai_tools import MAX_CALLS, MAX_TOOLS, check_parameters
from backend.generation.request import MAX_OUTPUT_TOKENS
from backend.platform.errors import InvalidRequest

MAX_LOGPROBS = 100_000
_FUNCTION_NAME = r"^[a-zA-Z0-9_-]{1,64}$"

CallId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ItemId = Annotated[str, StringConstraints(max_length=200)]
ItemStatus = Literal["in_progress", "completed", "incomplete"]
ResponseId = Annotated[str, StringConstraints(max_length=64)]


def _short_keys(metadata: dict[str, str]) -> dict[str, str]:
    if any(len(key) > 64 for key in metadata):
        raise ValueError("keys have at most 64 characters")
    return metadata


Metadata = Annotated[
    dict[str, Annotated[str, StringConstraints(max_length=512)]],
    Field(max_length=16),
    entries_at_most(16),
    AfterValidator(_short_keys),
]


class InputText(RequestModel):
    type: Literal["input_text"]
    text: Text


class InputImage(RequestModel):
    type: Literal["input_image"]
    image_url: str = Field(max_length=14_000_000)
    detail: Literal["auto", "low", "high"] = "auto"

    @field_validator("image_url")
    @classmethod
    def is_inline(cls, url: str) -> str:
        return ImageURL.is_inline(url)


class OutputText(RequestModel):
    """Text of an earlier answer, sent back."""

    type: Literal["output_text"]
    text: Text
    annotations: list[JsonObject] = Field(default=[], max_length=0)
    logprobs: list[JsonObject] | None = Field(default=None, max_length=MAX_LOGPROBS)


Content = Annotated[InputText | InputImage | OutputText, Field(discriminator="type")]


class MessageItem(RequestModel):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: Text | Annotated[list[Content], Field(min_length=1, max_length=MAX_ITEMS)]
    id: ItemId | None = None
    status: ItemStatus | None = None


class FunctionCallItem(RequestModel):
    type: Literal["function_call"]
    call_id: CallId
    name: str = Field(pattern=_FUNCTION_NAME)
    arguments: str = Field(max_length=1_000_000)
    id: ItemId | None = None
    status: ItemStatus | None = None


class FunctionOutputItem(RequestModel):
    type: Literal["function_call_output"]
    call_id: CallId
    output: Text | Annotated[list[InputText], Field(max_length=MAX_ITEMS)]
    id: ItemId | None = None
    status: ItemStatus | None = None


class SummaryText(RequestModel):
    type: Literal["summary_text"]
    text: Text


class ReasoningText(RequestModel):
    type: Literal["reasoning_text"]
    text: Text


class ReasoningItem(RequestModel):
    """What an earlier answer thought, sent back: taken, and not read again."""

    type: Literal["reasoning"]
    id: ItemId | None = None
    summary: list[SummaryText] = Field(default=[], max_length=MAX_ITEMS)
    content: list[ReasoningText] | None = Field(default=None, max_length=MAX_ITEMS)
    encrypted_content: Literal[""] | None = None
    status: ItemStatus | None = None


def _type_of(item: Any) -> str:
    """A message may leave its type out."""
    given = item.get("type", "message") if isinstance(item, dict) else getattr(item, "type", "")
    return given if isinstance(given, str) else ""


Item = Annotated[
    Annotated[MessageItem, Tag("message")]
    | Annotated[FunctionCallItem, Tag("function_call")]
    | Annotated[FunctionOutputItem, Tag("function_call_output")]
    | Annotated[ReasoningItem, Tag("reasoning")],
    Discriminator(
        _type_of,
        custom_error_type="union_tag_unknown",
        custom_error_message="an item's type is message, function_call, function_call_output or"
        " reasoning",
    ),
]


class JsonSchemaFormat(RequestModel):
    type: Literal["json_schema"]
    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    json_schema: JsonObject = Field(alias="schema")
    description: str | None = Field(default=None, max_length=10_000)
    strict: bool | None = None


class PlainFormat(RequestModel):
    type: Literal["text", "json_object"]


class TextConfig(RequestModel):
    format: Annotated[JsonSchemaFormat | PlainFormat, Field(discriminator="type")] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class ResponseTool(RequestModel):
    type: Literal["function"]
    name: str = Field(pattern=_FUNCTION_NAME)
    description: str | None = Field(default=None, max_length=10_000)
    parameters: JsonObject | None = None
    strict: bool | None = None

    @field_validator("parameters")
    @classmethod
    def is_object(cls, parameters: dict[str, Any] | None) -> dict[str, Any] | None:
        if parameters is not None:
            check_parameters(parameters)
        return parameters


class FunctionReference(RequestModel):
    type: Literal["function"]
    name: str = Field(pattern=_FUNCTION_NAME)


class AllowedTools(RequestModel):
    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: list[FunctionReference] = Field(min_length=1, max_length=MAX_TOOLS)


class ReasoningConfig(RequestModel):
    effort: ReasoningEffort | None = Field(
        default=None, description="For models with the capability `reasoning`."
    )
    summary: None = Field(default=None, description="Thoughts are sent whole, not summarized.")


class StreamOptions(RequestModel):
    include_obfuscation: bool | None = None


class ConversationReference(RequestModel):
    id: ResponseId


Include = Literal["message.output_text.logprobs", "reasoning.encrypted_content"]


class ResponseCreate(RequestModel):
    refused: ClassVar[dict[str, tuple[Any, ...]]] = {
        "access_programs": (),
        "context_management": ([],),
        "image": (),
        "moderation": (),
        "prompt": (),
        "prompt_cache_options": ({"mode": "implicit"},),
        "prompt_cache_retention": ("in_memory",),
    }

    model: ModelName
    input: Text | Annotated[list[Item], Field(min_length=1, max_length=MAX_ITEMS)]
    instructions: Text | None = None
    previous_response_id: ResponseId | None = None
    conversation: ResponseId | ConversationReference | None = Field(
        default=None, description="Its items are read first; input and output are added to it."
    )
    store: bool | None = Field(default=None, description="For 30 days, unless false.")
    background: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_output_tokens: int | None = Field(default=None, ge=1, le=MAX_OUTPUT_TOKENS)
    max_tool_calls: int | None = Field(
        default=None, ge=1, le=MAX_CALLS, description="Of tools run by the server: there are none."
    )
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    text: TextConfig | None = None
    service_tier: ServiceTier | None = None
    reasoning: ReasoningConfig | None = None
    tools: list[ResponseTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | FunctionReference | AllowedTools | None = (
        None
    )
    parallel_tool_calls: bool | None = None
    truncation: Literal["auto", "disabled"] | None = None
    include: list[Include] | None = Field(default=None, max_length=16)
    metadata: Metadata | None = None
    user: EndUser | None = None
    safety_identifier: EndUser | None = None
    prompt_cache_key: EndUser | None = None

    @model_validator(mode="before")
    @classmethod
    def without_refused(cls, data: Any) -> Any:
        return refuse_by_name(cls.refused, data)

    @model_validator(mode="after")
    def consistent(self) -> "ResponseCreate":
        if self.background and self.store is False:
            raise InvalidRequest(
                "A response in the background is stored: 'store' cannot be false.", param="store"
            )
        if self.conversation is not None and self.previous_response_id is not None:
            raise InvalidRequest(
                "'conversation' and 'previous_response_id' exclude each other.",
                param="previous_response_id",
            )
        if self.stream_options is not None and not self.stream:
            raise InvalidRequest(
                "'stream_options' is only allowed when 'stream' is true.", param="stream_options"
            )
        return self

    @property
    def conversation_id(self) -> str | None:
        named = self.conversation
        return named.id if isinstance(named, ConversationReference) else named

    @property
    def is_stored(self) -> bool:
        return self.store is not False

    @property
    def wants_logprobs(self) -> bool:
        return "message.output_text.logprobs" in (self.include or ()) or bool(self.top_logprobs)


class ItemsNew(RequestModel):
    items: list[Item] = Field(min_length=1, max_length=20)


class ConversationNew(RequestModel):
    items: list[Item] | None = Field(default=None, max_length=20)
    metadata: Metadata | None = None


class ConversationChange(RequestModel):
    metadata: Metadata | None
