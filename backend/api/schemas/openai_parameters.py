"""Sampling parameters that both generation endpoints share, and how others are refused.

The rule: a parameter is honoured, or it is refused with a 400 that names it. One that we do not
implement is still accepted with the values that ask for nothing (`"store": false`), because
clients send those by default. tests/contract/test_parameters.py walks the parameter list of the
installed OpenAI client and fails on one that is neither.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints, field_validator, model_validator

from backend.api.schemas.base import ModelName, RequestModel
from backend.platform.errors import InvalidRequest

MAX_CHOICES = 8
MAX_STOPS = 4
MAX_OUTPUT_TOKENS = 1_000_000
_INT64 = 2**63

Stop = Annotated[str, StringConstraints(min_length=1, max_length=256)]
EndUser = Annotated[str, StringConstraints(max_length=512)]


class StreamOptions(RequestModel):
    include_usage: bool | None = None
    include_obfuscation: bool | None = Field(
        default=None, description="Accepted; no padding is ever added."
    )


class GenerationParameters(RequestModel):
    """What /v1/chat/completions and /v1/completions have in common."""

    # parameter -> the values that ask for nothing, so that they can be taken
    refused: ClassVar[dict[str, tuple[Any, ...]]] = {}

    model: ModelName
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    stop: Stop | list[Stop] | None = None
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = Field(default=None, ge=-_INT64, lt=_INT64)
    logit_bias: dict[str, float] | None = Field(default=None, max_length=1024)
    user: EndUser | None = Field(default=None, description="Goes into the access log, hashed.")

    # Beyond OpenAI, with vLLM's names.
    top_k: int | None = Field(default=None, ge=-1, le=1_000_000)
    min_p: float | None = Field(default=None, ge=0, le=1)
    repetition_penalty: float | None = Field(default=None, gt=0, le=10)
    min_tokens: int | None = Field(default=None, ge=0, le=MAX_OUTPUT_TOKENS)
    ignore_eos: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def refuse_by_name(cls, data: Any) -> Any:
        """Drop refused parameters whose value asks for nothing; InvalidRequest for others."""
        if not isinstance(data, dict):
            return data
        taken = dict(data)
        for name, neutral in cls.refused.items():
            if name not in taken:
                continue
            value = taken.pop(name)
            if not any(type(value) is type(one) and value == one for one in (None, *neutral)):
                raise InvalidRequest(
                    f"'{name}' is not supported by this server. Leave it out.",
                    param=name,
                    code="unsupported_parameter",
                )
        return taken

    @field_validator("stop")
    @classmethod
    def few_stops(cls, stop: str | list[str] | None) -> str | list[str] | None:
        if isinstance(stop, list) and len(stop) > MAX_STOPS:
            raise ValueError(f"at most {MAX_STOPS} stop sequences are allowed, got {len(stop)}")
        return stop

    @field_validator("logit_bias")
    @classmethod
    def biases_are_token_ids(cls, bias: dict[str, float] | None) -> dict[str, float] | None:
        for token, value in (bias or {}).items():
            if not (token.isascii() and token.isdigit() and len(token) <= 9):
                raise ValueError(f"keys must be token ids, got {token[:40]!r}")
            if not -100 <= value <= 100:
                raise ValueError(f"values must be between -100 and 100, got {value}")
        return bias

    @model_validator(mode="after")
    def stream_options_need_a_stream(self) -> "GenerationParameters":
        if self.stream_options is not None and not self.stream:
            raise InvalidRequest(
                "'stream_options' is only allowed when 'stream' is true.", param="stream_options"
            )
        return self

    @property
    def stops(self) -> list[str] | None:
        return [self.stop] if isinstance(self.stop, str) else self.stop or None

    @property
    def wants_usage_chunk(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)
