"""The body of POST /v1/chat/completions.

Source of names and bounds: OpenAI API reference, "Create chat completion", and the types of
the official Python client.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from backend.api.schemas.base import MAX_ITEMS, JsonObject, RequestModel, Text
from backend.api.schemas.openai_messages import MAX_MESSAGES, InputMessage
from backend.api.schemas.openai_parameters import (
    EndUser,
    GenerationParameters,
    ReasoningEffort,
    ServiceTier,
)
from backend.api.schemas.openai_tools import ToolParameters, check_results
from backend.api.schemas.responses import Metadata
from backend.generation.request import MAX_OUTPUT_TOKENS
from backend.platform.errors import InvalidRequest


class JsonSchema(RequestModel):
    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    description: str | None = Field(default=None, max_length=10_000)
    json_schema: JsonObject = Field(alias="schema")
    strict: bool | None = Field(
        default=None, description="Every answer keeps to the schema, whatever this says."
    )


class ResponseFormat(RequestModel):
    """Free text, any JSON object, or JSON of one schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None

    @model_validator(mode="after")
    def schema_where_it_belongs(self) -> "ResponseFormat":
        if (self.type == "json_schema") != (self.json_schema is not None):
            raise InvalidRequest(
                "'response_format.json_schema' goes with the type 'json_schema', and only with it.",
                param="response_format",
            )
        return self

    def for_upstream(self) -> dict[str, Any] | None:
        """As OpenAI has it; None where nothing is asked."""
        if self.type == "text":
            return None
        return self.model_dump(by_alias=True, exclude_none=True)


class PredictionPart(RequestModel):
    type: Literal["text"]
    text: Text


class Prediction(RequestModel):
    """What the answer is expected to be, most of a file that is to be edited, say."""

    type: Literal["content"]
    content: Text | Annotated[list[PredictionPart], Field(max_length=MAX_ITEMS)]

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content)


class ChatCompletionRequest(GenerationParameters, ToolParameters):
    refused: ClassVar[dict[str, tuple[Any, ...]]] = {
        "audio": (),
        "function_call": ("none", "auto"),
        "functions": ([],),
        "modalities": (["text"],),
        "moderation": (),
        "prompt_cache_options": ({"mode": "implicit"},),
        "prompt_cache_retention": ("in_memory",),
        "web_search_options": (),
    }

    messages: list[InputMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_OUTPUT_TOKENS)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=MAX_OUTPUT_TOKENS)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    response_format: ResponseFormat | None = None
    prediction: Prediction | None = Field(
        default=None, description="For models with the capability `prediction`."
    )
    service_tier: ServiceTier | None = None
    reasoning_effort: ReasoningEffort | None = Field(
        default=None, description="For models with the capability `reasoning`."
    )
    verbosity: Literal["low", "medium", "high"] | None = Field(
        default=None,
        description="`low` and `high` are a sentence in the system message; `medium` is none.",
    )
    store: bool | None = Field(
        default=None,
        description="True: it can be read later, for 30 days. False: nothing of the call outlives"
        " its delivery.",
    )
    metadata: Metadata | None = Field(default=None, description="Of a stored one.")
    safety_identifier: EndUser | None = Field(
        default=None, description="Goes into the access log, hashed."
    )
    prompt_cache_key: EndUser | None = Field(
        default=None, description="A hint. Prefixes are found by content, so it changes nothing."
    )

    @model_validator(mode="after")
    def results_belong_to_calls(self) -> "ChatCompletionRequest":
        check_results(self.messages)
        return self

    @model_validator(mode="after")
    def consistent(self) -> "ChatCompletionRequest":
        if self.metadata and not self.store:
            raise InvalidRequest(
                "'metadata' is only allowed when 'store' is true.", param="metadata"
            )
        if self.store and (self.n or 1) > 1:
            raise InvalidRequest(
                "Of a stored completion there is one choice: leave out 'n' or 'store'.",
                param="n",
                code="unsupported_parameter",
            )
        if self.top_logprobs is not None and not self.logprobs:
            raise InvalidRequest(
                "'top_logprobs' is only allowed when 'logprobs' is true.", param="top_logprobs"
            )
        if None not in (self.max_tokens, self.max_completion_tokens) and (
            self.max_tokens != self.max_completion_tokens
        ):
            raise InvalidRequest(
                "'max_tokens' is the older name of 'max_completion_tokens'; send only one.",
                param="max_tokens",
            )
        return self

    @property
    def output_limit(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens


class ChatCompletionUpdate(RequestModel):
    metadata: Metadata | None
