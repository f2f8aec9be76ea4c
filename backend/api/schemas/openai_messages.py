"""`messages` of /v1/chat/completions, as OpenAI's clients send them.

A message that came out of an answer may be sent back as it is: its null fields are ignored.
Parts and roles that no model here understands are refused by name.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from backend.api.schemas.base import MAX_ITEMS, JsonObject, RequestModel, Text
from backend.api.schemas.openai_tools import MAX_CALLS, ToolCallIn

MAX_MESSAGES = 2_000

# What an answer's message carries beside its text; only a null can be sent back.
_ECHOED = ("refusal", "annotations", "audio", "function_call", "tool_calls", "tool_call_id")


class TextPart(RequestModel):
    type: Literal["text"]
    text: Text


class ImageURL(RequestModel):
    url: str = Field(max_length=14_000_000)
    detail: Literal["auto", "low", "high"] = "auto"

    @field_validator("url")
    @classmethod
    def is_inline(cls, url: str) -> str:
        """Fetching a client's URL from here would reach into our own network."""
        if not url.startswith("data:image/"):
            raise ValueError("an image must be sent inline, as a data:image/… URL")
        return url


class ImagePart(RequestModel):
    type: Literal["image_url"]
    image_url: ImageURL


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class InputMessage(RequestModel):
    """One message. `developer` is OpenAI's newer name of `system`. What `tool` says is content
    from outside: it is read as data, and gives no orders."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    name: str | None = Field(default=None, max_length=64)
    tool_call_id: str | None = Field(
        default=None, max_length=200, description="Of `tool`: the call that it answers."
    )
    tool_calls: list[ToolCallIn] | None = Field(
        default=None, max_length=MAX_CALLS, description="Of `assistant`."
    )
    reasoning_content: Text | None = Field(
        default=None, description="Of an earlier answer: taken, and not read again."
    )
    provider_specific_fields: JsonObject | None = Field(
        default=None, description="What LiteLLM adds to an answer: taken, and not read."
    )
    # After `tool_calls`, by which it is checked.
    content: Text | Annotated[list[Part], Field(max_length=MAX_ITEMS)] | None = Field(
        default=None,
        validate_default=True,
        description="Null only where an assistant's message has `tool_calls`.",
    )

    @model_validator(mode="before")
    @classmethod
    def drop_echoed_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {k: v for k, v in data.items() if not (k in _ECHOED and v in (None, [], ""))}

    @field_validator("content")
    @classmethod
    def has_parts(
        cls, content: str | list[Part] | None, info: ValidationInfo
    ) -> str | list[Part] | None:
        if content is None and not info.data.get("tool_calls"):
            raise PydanticCustomError("missing", "Field required")
        if content == []:
            raise ValueError("content must not be an empty list")
        return content

    @model_validator(mode="after")
    def tools_speak_text(self) -> "InputMessage":
        if self.role != "tool" and self.tool_call_id is not None:
            raise ValueError("only a message of role tool has a tool_call_id")
        if self.role != "assistant" and self.tool_calls is not None:
            raise ValueError("only a message of role assistant has tool_calls")
        if self.role == "tool" and self.has_image:
            raise ValueError("a message of role tool may hold text only")
        return self

    @property
    def has_image(self) -> bool:
        return isinstance(self.content, list) and any(
            part.type == "image_url" for part in self.content
        )
