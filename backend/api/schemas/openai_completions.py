"""The body of POST /v1/completions: prompts as text or token ids."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from backend.api.schemas.openai_parameters import GenerationParameters
from backend.generation.request import MAX_OUTPUT_TOKENS
from backend.platform.errors import InvalidRequest

MAX_CHOICES = 128
"""Of all prompts of a request together."""
_MAX_CHARACTERS = 4_000_000


Prompt = Annotated[str, Field(max_length=_MAX_CHARACTERS)]
Tokens = Annotated[list[int], Field(max_length=_MAX_CHARACTERS)]


class CompletionRequest(GenerationParameters):
    refused: ClassVar[dict[str, tuple[Any, ...]]] = {}

    prompt: (
        Prompt
        | Tokens
        | Annotated[list[Prompt], Field(max_length=MAX_CHOICES)]
        | Annotated[list[Tokens], Field(max_length=MAX_CHOICES)]
    )
    suffix: str | None = Field(
        default=None,
        max_length=_MAX_CHARACTERS,
        description="What comes after the answer, for models that fill in.",
    )
    echo: bool | None = Field(default=None, description="Each choice begins with its prompt.")
    max_tokens: int | None = Field(default=16, ge=1, le=MAX_OUTPUT_TOKENS)
    logprobs: int | None = Field(default=None, ge=0, le=5)
    best_of: int | None = Field(
        default=None,
        ge=1,
        le=MAX_CHOICES,
        description="Of so many candidates the `n` likeliest are answered. All are billed.",
    )

    @property
    def candidates(self) -> int:
        """How many choices are generated for each prompt."""
        return self.best_of or self.n or 1

    @property
    def prompts(self) -> list[str | list[int]]:
        """Each is answered by `n` choices."""
        prompt = self.prompt
        if isinstance(prompt, str):
            return [prompt]
        if prompt and isinstance(prompt[0], int):
            return [prompt]
        return [item for item in prompt if not isinstance(item, int)]

    @model_validator(mode="after")
    def prompts_are_no_more_than_can_be_answered(self) -> "CompletionRequest":
        prompts = self.prompts
        if not prompts or not all(prompts):
            raise InvalidRequest("'prompt' must not be empty.", param="prompt")
        if len(prompts) * self.candidates > MAX_CHOICES:
            raise InvalidRequest(
                f"'prompt', 'n' and 'best_of' ask for more than {MAX_CHOICES} choices.",
                param="prompt",
            )
        if sum(map(len, prompts)) > _MAX_CHARACTERS:
            raise InvalidRequest(
                f"The prompts are longer than {_MAX_CHARACTERS} together.", param="prompt"
            )
        lists = [item for item in prompts if isinstance(item, list)]
        if any(not 0 <= token < 2**31 for tokens in lists for token in tokens):
            raise InvalidRequest("'prompt' holds a number that is no token id.", param="prompt")
        return self

    @model_validator(mode="after")
    def best_are_chosen_at_the_end(self) -> "CompletionRequest":
        n = self.n or 1
        if self.candidates < n:
            raise InvalidRequest(f"'best_of' must be at least 'n', {n}.", param="best_of")
        if self.candidates > n and (self.stream or self.echo):
            other = "stream" if self.stream else "echo"
            raise InvalidRequest(
                f"'best_of' above 'n' cannot be joined with '{other}': which candidates are best"
                " is known at the end, by the log probabilities of their tokens.",
                param="best_of",
                code="unsupported_parameter",
            )
        return self

    @model_validator(mode="after")
    def echo_has_no_logprobs(self) -> "CompletionRequest":
        if self.echo and self.logprobs is not None:
            raise InvalidRequest(
                "'echo' cannot be joined with 'logprobs': those of a prompt are not computed.",
                param="echo",
                code="unsupported_parameter",
            )
        return self
