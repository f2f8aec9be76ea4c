"""Sampling parameters that both generation endpoints share, and how others are refused.

The rule: a parameter is honoured, or it is refused with a 400 that names it. One that we do not
implement is still accepted with the values that ask for nothing (`"store": false`), because
clients send those by default. tests/contract/test_parameters.py walks the parameter list of the
installed OpenAI client and fails on one that is neither.
"""

from functools import reduce
from operator import or_
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta
from pydantic import Field, StringConstraints, create_model, field_validator, model_validator

from backend.api.schemas.base import ModelName, RequestModel, entries_at_most
from backend.generation.request import SamplingParams
from backend.platform.errors import InvalidRequest

MAX_CHOICES = 8
MAX_STOPS = 4

Stop = Annotated[str, StringConstraints(min_length=1, max_length=256)]
ServiceTier = Literal["auto", "default", "flex", "priority"]
"""`flex` waits longer and costs less, `priority` is served sooner and costs more."""
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
EndUser = Annotated[str, StringConstraints(max_length=512)]


def _with_bounds_of_pydantic(hint: Any) -> Any:
    """The same type, with what `msgspec.Meta` says of it said in pydantic's way."""
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        bounds = [
            Field(ge=meta.ge, gt=meta.gt, le=meta.le, lt=meta.lt)
            for meta in notes
            if isinstance(meta, Meta)
        ]
        return Annotated[(kind, *bounds)]
    if get_origin(hint) in (Union, UnionType):
        return reduce(or_, map(_with_bounds_of_pydantic, get_args(hint)))
    return hint


class StreamOptions(RequestModel):
    include_usage: bool | None = None
    include_obfuscation: bool | None = Field(
        default=None, description="Accepted; no padding is ever added."
    )


def refuse_by_name(refused: dict[str, tuple[Any, ...]], data: Any) -> Any:
    """A body without the `refused` parameters whose value asks for nothing.

    Raises:
        InvalidRequest: naming one with another value.
    """
    if not isinstance(data, dict):
        return data
    taken = dict(data)
    for name, neutral in refused.items():
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


OWN_WAYS = {"max_tokens", "logprobs", "top_logprobs", "response_format", "extra"}
"""Of `SamplingParams`, what each endpoint takes in its own way or not at all."""

if TYPE_CHECKING:
    _SamplingFields = RequestModel  # its fields are read by their names alone
else:
    _SamplingFields = create_model(
        "_SamplingFields",
        __base__=RequestModel,
        **{
            field.name: (_with_bounds_of_pydantic(field.type), None)
            for field in msgspec.structs.fields(SamplingParams)
            if field.name not in OWN_WAYS
        },
    )


class GenerationParameters(_SamplingFields):
    """What /v1/chat/completions and /v1/completions have in common.

    The sampling parameters come from `SamplingParams` with their names, types and bounds; those
    that stand here too are taken in another form than upstreams have them.
    """

    # parameter -> the values that ask for nothing, so that they can be taken
    refused: ClassVar[dict[str, tuple[Any, ...]]] = {}

    model: ModelName
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    stop: Stop | Annotated[list[Stop], Field(max_length=MAX_STOPS)] | None = None
    logit_bias: (
        Annotated[dict[str, float], Field(max_length=1024), entries_at_most(1024)] | None
    ) = None
    user: EndUser | None = Field(default=None, description="Goes into the access log, hashed.")

    # Our own.
    stop_on_loop: bool | None = Field(
        default=None,
        description="End an answer that has gone into a loop, with finish_details.type `loop`. "
        "Chat answers do unless this is false or `ignore_eos` is set.",
    )

    @model_validator(mode="before")
    @classmethod
    def without_refused(cls, data: Any) -> Any:
        return refuse_by_name(cls.refused, data)

    @field_validator("logit_bias")
    @classmethod
    def biases_are_token_ids(cls, bias: dict[str, float] | None) -> dict[str, float] | None:
        for token, value in (bias or {}).items():
            if not (token.isascii() and token.isdigit() and len(token) <= 9):
                raise ValueError(f"keys must be token ids, got {token[:40]!r}")
            if not -100 <= value <= 100:
                raise InvalidRequest(
                    f"'logit_bias.{token}': must be between -100 and 100, got {value}.",
                    param=f"logit_bias.{token}",
                )
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
