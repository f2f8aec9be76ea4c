"""The body of POST /v1/embeddings."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from backend.api.schemas.base import ModelName, RequestModel
from backend.platform.errors import InvalidRequest

MAX_INPUTS = 2048  # OpenAI's own limit
MAX_CHARACTERS = 2_000_000
_MAX_TOKEN_ID = 2**31


InputText = Annotated[str, Field(max_length=MAX_CHARACTERS)]
Tokens = Annotated[list[int], Field(max_length=MAX_CHARACTERS)]


class EmbeddingsRequest(RequestModel):
    input: (
        InputText
        | Annotated[list[InputText], Field(max_length=MAX_INPUTS)]
        | Tokens
        | Annotated[list[Tokens], Field(max_length=MAX_INPUTS)]
    )
    model: ModelName = "auto"
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(default=None, ge=1)
    user: str | None = Field(default=None, max_length=512)

    @field_validator("input")
    @classmethod
    def bounded(cls, value: Any) -> Any:
        if not value:
            raise ValueError("an input must not be empty")
        for number, one in enumerate(value if isinstance(value, list) else ()):
            if one in ("", []):
                name = f"input[{number}]"
                raise InvalidRequest(f"'{name}': an input must not be empty.", param=name)
        one_prompt = isinstance(value, str) or isinstance(value[0], int)
        size = len(value) if one_prompt else sum(map(len, value))
        if size > MAX_CHARACTERS:
            raise ValueError(f"the inputs are longer than {MAX_CHARACTERS} together")
        lists = [value] if isinstance(value[0], int) else value
        if any(isinstance(n, int) and not 0 <= n < _MAX_TOKEN_ID for one in lists for n in one):
            raise ValueError("a number is no token id")
        return value

    @property
    def inputs(self) -> list[str] | list[list[int]]:
        """Each becomes one vector."""
        if isinstance(self.input, str):
            return [self.input]
        if isinstance(self.input[0], int):
            return [[token for token in self.input if isinstance(token, int)]]
        return self.input
