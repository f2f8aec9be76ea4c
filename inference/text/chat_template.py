"""Messages to prompt text, by the model's own Jinja template in a sandbox."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from inference.errors import InvalidRequestError


class ChatTemplate:
    def __init__(self, source: str, *, bos_token: str | None, eos_token: str | None) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._template = environment.from_string(source)
        self._names = {"bos_token": bos_token or "", "eos_token": eos_token or ""}

    def render(
        self,
        messages: list[dict[str, Any]],
        *,
        add_generation_prompt: bool,
        continue_final_message: bool = False,
        variables: dict[str, Any] | None = None,
    ) -> str:
        """The prompt text.

        With `continue_final_message` the text ends with the last message's own text, so
        that the model goes on with it.

        Raises:
            InvalidRequestError: when the template refuses the messages.
        """
        try:
            text = self._template.render(
                **(variables or {}),
                **self._names,
                messages=messages,
                add_generation_prompt=add_generation_prompt,
            )
        except (TemplateError, TypeError, ValueError) as error:
            raise InvalidRequestError(
                f"the model's chat template refuses these messages: {error}", param="messages"
            ) from error
        return _cut_after(text, messages[-1]["content"]) if continue_final_message else text


def _cut_after(text: str, final: str) -> str:
    """Drop what the template wrote after the final message; templates may strip spaces."""
    at = text.rfind(final)
    if at >= 0:
        return text[: at + len(final)]
    bare = final.strip()
    at = text.rfind(bare)
    if not bare or at < 0:
        raise InvalidRequestError(
            "the model's chat template does not show the final message, so it cannot be continued",
            param="continue_final_message",
        )
    return text[: at + len(bare)] + final[len(final.rstrip()) :]


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)
