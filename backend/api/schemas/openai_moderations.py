"""The body of /v1/moderations."""

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from backend.api.schemas.base import ModelName, RequestModel
from backend.api.schemas.openai_messages import ImageURL
from backend.platform.errors import InvalidRequest

MAX_INPUTS = 64
MAX_IMAGES = 8


ModeratedText = Annotated[str, Field(max_length=200_000)]


class ModerationText(RequestModel):
    type: Literal["text"]
    text: ModeratedText


class ModerationImage(RequestModel):
    type: Literal["image_url"]
    image_url: ImageURL


ModerationPart = Annotated[ModerationText | ModerationImage, Field(discriminator="type")]


@dataclass(frozen=True, slots=True)
class ModerationInput:
    """What one result is about."""

    text: str
    images: list[bytes]


class ModerationRequest(RequestModel):
    input: (
        ModeratedText
        | Annotated[list[ModeratedText], Field(max_length=MAX_INPUTS)]
        | Annotated[list[ModerationPart], Field(max_length=MAX_INPUTS)]
    )
    model: ModelName | None = Field(
        default=None, description="Any name; there is one classifier, and the answer names it."
    )

    @field_validator("input")
    @classmethod
    def bounded(cls, value: Any) -> Any:
        if isinstance(value, list) and not 1 <= len(value) <= MAX_INPUTS:
            raise ValueError(f"between 1 and {MAX_INPUTS} inputs are allowed, got {len(value)}")
        if any(isinstance(item, str) and len(item) > 200_000 for item in (*value, value)):
            raise ValueError("an input is longer than 200000 characters")
        if sum(isinstance(item, ModerationImage) for item in value) > MAX_IMAGES:
            raise ValueError(f"at most {MAX_IMAGES} images are allowed")
        return value

    @property
    def inputs(self) -> list[ModerationInput]:
        """What is classified: each string alone, but the parts of one input together.

        Raises:
            InvalidRequest: an image is not base64.
        """
        if isinstance(self.input, str):
            return [ModerationInput(self.input, [])]
        texts = [item for item in self.input if isinstance(item, str)]
        if texts:
            return [ModerationInput(text, []) for text in texts]
        said = [part.text for part in self.input if isinstance(part, ModerationText)]
        shown = [part for part in self.input if isinstance(part, ModerationImage)]
        return [ModerationInput("\n".join(said), [_bytes_of(part) for part in shown])]


def _bytes_of(part: ModerationImage) -> bytes:
    try:
        return base64.b64decode(part.image_url.url.partition(",")[2], validate=True)
    except binascii.Error as error:
        raise InvalidRequest(f"An image is not base64: {error}.", param="input") from error
