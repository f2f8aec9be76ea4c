"""The bodies of POST /v1/messages and /v1/messages/count_tokens.

Source of names and bounds: Anthropic API reference, "Messages", and the types of the official
Python client. Tools of one's own are the only tools; what Anthropic runs itself is refused by name.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from backend.api.schemas.base import JsonObject, ModelName, RequestModel, Text
from backend.api.schemas.openai_messages import MAX_MESSAGES
from backend.api.schemas.openai_parameters import EndUser, Stop, refuse_by_name
from backend.api.schemas.openai_tools import MAX_TOOLS, check_parameters
from backend.generation.request import MAX_OUTPUT_TOKENS

_TOOL_NAME = r"^[a-zA-Z0-9_-]{1,64}$"
MAX_BLOCKS = 2_000

BlockId = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class CacheControl(RequestModel):
    """A hint. Prefixes are found by content, so it changes nothing."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class Block(RequestModel):
    cache_control: CacheControl | None = None


class TextBlock(Block):
    type: Literal["text"]
    text: Text
    citations: list[JsonObject] | None = Field(default=None, max_length=0)


class ImageSource(RequestModel):
    type: Literal["base64"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: str = Field(max_length=14_000_000, pattern=r"^[A-Za-z0-9+/=\s]*$")


class ImageBlock(Block):
    type: Literal["image"]
    source: ImageSource


class ToolUseBlock(Block):
    type: Literal["tool_use"]
    id: BlockId
    name: str = Field(pattern=_TOOL_NAME)
    input: JsonObject
    caller: JsonObject | None = None


class ToolResultBlock(Block):
    type: Literal["tool_result"]
    tool_use_id: BlockId
    content: Text | Annotated[list[TextBlock], Field(max_length=MAX_BLOCKS)] = ""
    is_error: bool = False


class ThinkingBlock(RequestModel):
    """Of an earlier answer: models here do not read it again."""

    type: Literal["thinking"]
    thinking: Text
    signature: Text = ""


InputBlock = Annotated[
    TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock,
    Field(discriminator="type"),
]


class MessageIn(RequestModel):
    role: Literal["user", "assistant"]
    content: Text | Annotated[list[InputBlock], Field(min_length=1, max_length=MAX_BLOCKS)]


class ToolIn(Block):
    type: Literal["custom"] | None = None
    name: str = Field(pattern=_TOOL_NAME)
    description: str | None = Field(default=None, max_length=10_000)
    input_schema: JsonObject
    strict: bool | None = None

    @field_validator("input_schema")
    @classmethod
    def is_object(cls, schema: dict[str, Any]) -> dict[str, Any]:
        check_parameters(schema)
        return schema


class ToolChoiceIn(RequestModel):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = Field(default=None, pattern=_TOOL_NAME)
    disable_parallel_tool_use: bool | None = None

    @model_validator(mode="after")
    def name_of_a_tool(self) -> "ToolChoiceIn":
        if (self.type == "tool") != (self.name is not None):
            raise ValueError("'name' goes with the type 'tool', and only with it")
        return self


class ThinkingIn(RequestModel):
    """Whether the model is to think. Thoughts are shown whole, whatever `display` calls them."""

    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = Field(default=None, ge=1024, le=MAX_OUTPUT_TOKENS)
    display: Literal["summarized"] | None = None

    @model_validator(mode="after")
    def budget_of_enabled(self) -> "ThinkingIn":
        if (self.type == "enabled") != (self.budget_tokens is not None):
            raise ValueError("'budget_tokens' goes with the type 'enabled', and only with it")
        return self


class Metadata(RequestModel):
    user_id: EndUser | None = None


class PromptIn(RequestModel):
    """What counting tokens and answering have in common."""

    refused: ClassVar[dict[str, tuple[Any, ...]]] = {
        "container": (),
        "diagnostics": (),
        "inference_geo": ("global",),
        "mcp_servers": ([],),
        "output_config": ({},),
        "speed": ("standard",),
        "user_profile_id": (),
        "workspace_id": (),
    }

    model: ModelName
    messages: list[MessageIn] = Field(min_length=1, max_length=MAX_MESSAGES)
    system: Text | Annotated[list[TextBlock], Field(max_length=MAX_BLOCKS)] | None = None
    tools: list[ToolIn] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: ToolChoiceIn | None = None
    thinking: ThinkingIn | None = None
    cache_control: CacheControl | None = None

    @model_validator(mode="before")
    @classmethod
    def without_refused(cls, data: Any) -> Any:
        return refuse_by_name(cls.refused, data)


class MessagesCreate(PromptIn):
    max_tokens: int = Field(ge=1, le=MAX_OUTPUT_TOKENS)
    stream: bool | None = None
    stop_sequences: list[Stop] | None = Field(default=None, max_length=4)
    temperature: float | None = Field(default=None, ge=0, le=1)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=0, le=1_000_000)
    metadata: Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None


class CountTokens(PromptIn):
    pass
