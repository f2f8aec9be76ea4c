"""The body of POST /v1/completions: a prompt as text or token ids."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from backend.api.schemas.openai_parameters import GenerationParameters
from backend.generation.request import MAX_OUTPUT_TOKENS
from backend.platform.errors import InvalidRequest

MAX_PROMPT_TOKENS = 1_000_000


class CompletionRequest(GenerationParameters):
    refused: ClassVar[dict[str, tuple[Any, ...]]] = {"echo": (False,), "suffix": ("",)}

    prompt: str | list[int] | list[str] | list[list[int]] = Field(max_length=4_000_000)
    max_tokens: int | None = Field(default=16, ge=1, le=MAX_OUTPUT_TOKENS)
    logprobs: int | None = Field(default=None, ge=0, le=5)
    best_of: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def one_prompt(self) -> "CompletionRequest":
        prompt = self.prompt
        if isinstance(prompt, list) and prompt and not isinstance(prompt[0], int):
            if len(prompt) > 1:
                raise InvalidRequest(
                    "'prompt' holds several prompts. Send one request for each.",
                    param="prompt",
                    code="unsupported_parameter",
                )
            self.prompt = prompt[0]
        if not self.prompt:
            raise InvalidRequest("'prompt' must not be empty.", param="prompt")
        if isinstance(self.prompt, list) and any(
            isinstance(token, int) and not 0 <= token < 2**31 for token in self.prompt
        ):
            raise InvalidRequest("'prompt' holds a number that is no token id.", param="prompt")
        return self

    @model_validator(mode="after")
    def best_is_all(self) -> "CompletionRequest":
        """Ranking candidates is not offered; asking for as many as are returned ranks nothing."""
        if self.best_of is not None and self.best_of != (self.n or 1):
            raise InvalidRequest(
                "'best_of' other than 'n' is not supported by this server. Leave it out.",
                param="best_of",
                code="unsupported_parameter",
            )
        return self

    @property
    def single_prompt(self) -> str | list[int]:
        """The prompt after `one_prompt`."""
        assert isinstance(self.prompt, str) or isinstance(self.prompt[0], int)
        return self.prompt
