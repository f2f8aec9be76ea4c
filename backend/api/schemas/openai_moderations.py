"""The body of /v1/moderations."""

from typing import Any, Literal

from pydantic import Field, field_validator

from backend.api.schemas.base import ModelName, RequestModel

MAX_INPUTS = 64


class ModerationPart(RequestModel):
    type: Literal["text"]
    text: str = Field(max_length=200_000)


class ModerationRequest(RequestModel):
    input: str | list[str] | list[ModerationPart]
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
        return value

    @property
    def texts(self) -> list[str]:
        """What is classified: each string alone, but the parts of one input together."""
        if isinstance(self.input, str):
            return [self.input]
        texts = [item for item in self.input if isinstance(item, str)]
        return texts or ["\n".join(p.text for p in self.input if isinstance(p, ModerationPart))]
