"""A turn of a conversation, as the page asks for it: a prompt, or another answer to one."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from backend.api.schemas.base import ModelName, RequestModel
from backend.api.schemas.conversations import ID

MAX_TEXT = 1_000_000


class TextPartIn(RequestModel):
    type: Literal["text"]
    text: str = Field(min_length=1, max_length=MAX_TEXT)


class AttachmentPartIn(RequestModel):
    type: Literal["image", "file"]
    attachment_id: ID
    filename: str | None = Field(
        default=None, max_length=1_000, description="Ignored: the upload has its name."
    )


PartIn = Annotated[TextPartIn | AttachmentPartIn, Field(discriminator="type")]


ToolChoice = Annotated[
    Literal["auto", "none"], Field(description='"none": the model is offered no tools.')
]
PageTools = Annotated[
    list[Literal["python"]],
    Field(
        max_length=1,
        description="What the page that asks can run: the model is offered it, where its person"
        " has switched it on.",
    ),
]


class TurnCreate(RequestModel):
    """A prompt. Without `parent_id` it follows the active leaf; null starts a new root."""

    content: (
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
        | Annotated[list[PartIn], Field(min_length=1, max_length=20)]
    )
    parent_id: ID | None = None
    model: ModelName | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    tool_choice: ToolChoice = "auto"
    page_tools: PageTools = []

    @property
    def follows_active_leaf(self) -> bool:
        return "parent_id" not in self.model_fields_set

    @property
    def parts(self) -> list[dict[str, Any]]:
        """As `conversations` stores them."""
        if isinstance(self.content, str):
            return [{"type": "text", "text": self.content}]
        return [
            part.model_dump(mode="json", exclude={"filename"}, exclude_none=True)
            for part in self.content
        ]


class TurnRegenerate(RequestModel):
    model: ModelName | None = None
    tool_choice: ToolChoice = "auto"
    page_tools: PageTools = []
    beside: int | None = Field(
        default=None,
        ge=0,
        le=3,
        description="Its place among the prompt's answers, the first is 0: they stand side by side"
        " until one of them is chosen (`active_message_id`), or the chat goes on.",
    )
