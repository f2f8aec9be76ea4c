"""`tools`, `tool_choice` and the calls in `messages`, as OpenAI's clients send them.

Source of names and bounds: OpenAI API reference, "Create chat completion", and the types of the
official Python client. Functions are honoured; custom tools (free text by a grammar) are refused.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import Field, field_validator, model_validator

from backend.api.schemas.base import JsonObject, RequestModel
from backend.generation.tools import Tools
from backend.platform.errors import InvalidRequest

MAX_TOOLS = 128
MAX_CALLS = 128
MAX_DEPTH = 64
_NAME = r"^[a-zA-Z0-9_-]{1,64}$"


def check_parameters(parameters: dict[str, Any]) -> None:
    """Raises ValueError: they are no schema of an object, or nested too deeply to be read."""
    if parameters.get("type", "object") != "object":
        raise ValueError(f"its type must be 'object', got {str(parameters['type'])[:60]!r}")
    level: list[Any] = [parameters]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"it is nested in more than {MAX_DEPTH} levels")


class FunctionDefinition(RequestModel):
    name: str = Field(pattern=_NAME)
    description: str | None = Field(default=None, max_length=10_000)
    parameters: JsonObject | None = Field(
        default=None, description="A JSON schema of an object; none: no arguments."
    )
    strict: bool | None = Field(
        default=None,
        description="A schema that cannot be held is refused, and else replaced by any object.",
    )

    @field_validator("parameters")
    @classmethod
    def is_object(cls, parameters: dict[str, Any] | None) -> dict[str, Any] | None:
        if parameters is not None:
            check_parameters(parameters)
        return parameters


class FunctionTool(RequestModel):
    type: Literal["function"]
    function: FunctionDefinition


class FunctionName(RequestModel):
    name: str = Field(pattern=_NAME)


class NamedFunction(RequestModel):
    type: Literal["function"]
    function: FunctionName


class AllowedTools(RequestModel):
    mode: Literal["auto", "required"]
    tools: list[NamedFunction] = Field(min_length=1, max_length=MAX_TOOLS)


class ToolChoice(RequestModel):
    """One function, or those of `tools` that may be called."""

    type: Literal["function", "allowed_tools"]
    function: FunctionName | None = None
    allowed_tools: AllowedTools | None = None

    @model_validator(mode="after")
    def one_of_them(self) -> "ToolChoice":
        for kind in ("function", "allowed_tools"):
            if (self.type == kind) != (getattr(self, kind) is not None):
                raise ValueError(f"'{kind}' goes with the type '{kind}', and only with it")
        return self

    @property
    def names(self) -> list[str]:
        if self.allowed_tools is not None:
            return [one.function.name for one in self.allowed_tools.tools]
        return [self.function.name] if self.function else []


class CalledFunction(RequestModel):
    name: str = Field(pattern=_NAME)
    arguments: str = Field(max_length=1_000_000)


class ToolCallIn(RequestModel):
    """A call of an earlier answer."""

    id: str = Field(min_length=1, max_length=200)
    type: Literal["function"] = "function"
    function: CalledFunction


class ToolParameters(RequestModel):
    """What a chat may say of tools."""

    tools: list[FunctionTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | ToolChoice | None = None
    parallel_tool_calls: bool | None = None

    @model_validator(mode="after")
    def choice_is_among_tools(self) -> "ToolParameters":
        names = [tool.function.name for tool in self.tools or ()]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise InvalidRequest(
                    f"'tools' has two functions named '{name}'.",
                    param=f"tools[{index}].function.name",
                )
        if self.tool_choice in (None, "auto", "none"):
            return self
        if not names:
            raise InvalidRequest(
                "'tool_choice' is only allowed when 'tools' are given.", param="tool_choice"
            )
        wanted = self.tool_choice.names if isinstance(self.tool_choice, ToolChoice) else []
        for name in wanted:
            if name not in names:
                raise InvalidRequest(
                    f"'tool_choice' names the function '{name}', which is not in 'tools'.",
                    param="tool_choice",
                )
        return self

    @property
    def for_generation(self) -> Tools | None:
        """None where no tool may be called and none is told of."""
        if not self.tools or self.tool_choice == "none":
            return None
        choice = self.tool_choice
        return Tools(
            tools=[tool.model_dump(exclude_none=True) for tool in self.tools],
            tool_choice=choice.model_dump(exclude_none=True)
            if isinstance(choice, ToolChoice)
            else choice,
            parallel_tool_calls=self.parallel_tool_calls,
        )


class HistoryMessage(Protocol):
    """What is asked of a message here."""

    role: Any
    tool_calls: list[ToolCallIn] | None
    tool_call_id: str | None


def check_results(messages: Sequence[HistoryMessage], *, param: str = "messages") -> None:
    """Each result belongs to a call of the answer before it, and each call has one.

    Raises:
        InvalidRequest: naming the message, and the call.
    """
    waiting: dict[str, None] = {}
    for index, message in enumerate(messages):
        if message.role == "tool":
            _check_result(message, waiting, f"{param}[{index}].tool_call_id")
            continue
        if waiting:
            break
        waiting = {call.id: None for call in message.tool_calls or ()}
    if waiting:
        raise InvalidRequest(
            "An assistant message with 'tool_calls' must be followed by tool messages that answer "
            f"each 'tool_call_id'. These were not answered: {', '.join(waiting)}.",
            param=param,
        )


def _check_result(message: HistoryMessage, waiting: dict[str, None], param: str) -> None:
    if message.tool_call_id is None:
        raise InvalidRequest(
            "A message of role 'tool' says by 'tool_call_id' which call it answers.",
            param=param,
            code="missing_required_parameter",
        )
    if message.tool_call_id not in waiting:
        raise InvalidRequest(
            f"'{message.tool_call_id}' is no call of the assistant message before it that waits "
            "for a result.",
            param=param,
        )
    del waiting[message.tool_call_id]
