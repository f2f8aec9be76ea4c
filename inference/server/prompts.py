"""What a body gives as its prompt, as token ids: texts, token ids, or messages by the template.

What cannot fit the model is refused before it is tokenized, and long texts are tokenized beside
the event loop: a text of some megabytes takes as many seconds.
"""

from __future__ import annotations

from typing import Any

from inference.errors import InvalidRequestError
from inference.server.schemas import Message, Prompts
from inference.server.state import ServerState

_MAX_INLINE_CHARS = 2_000
"""Tokenized in some milliseconds: less than a way through a thread may take on a busy machine."""


def count_prompts(prompts: Prompts) -> int:
    """How many prompts a body holds: a list of token ids is one."""
    return 1 if isinstance(prompts, str) or isinstance(prompts[0], int) else len(prompts)


async def encode(state: ServerState, text: str, *, add_special_tokens: bool) -> list[int]:
    """The token ids of a text of any length."""

    def work() -> list[int]:
        return state.tokenizer.encode(text, add_special_tokens=add_special_tokens)

    return work() if len(text) <= _MAX_INLINE_CHARS else await state.off_loop(work)


async def prompts_as_ids(
    state: ServerState, prompts: Prompts, *, add_special_tokens: bool, param: str
) -> list[list[int]]:
    """Every prompt of a body as token ids.

    Raises:
        InvalidRequestError: when texts and token ids are mixed.
        ContextLengthError: when a text is longer than any that fits the model.
    """
    given = [prompts] if isinstance(prompts, str) else prompts
    if len({type(item) for item in given}) > 1:
        raise InvalidRequestError("a list must hold one kind of prompt only", param=param)
    if ids := [item for item in given if isinstance(item, int)]:
        return [ids]
    texts = [item for item in given if isinstance(item, str)]
    for text in texts:
        state.check_text(len(text), param)
    if texts:
        return [await encode(state, text, add_special_tokens=add_special_tokens) for text in texts]
    return [item for item in given if isinstance(item, list)]


async def render_prompt(
    state: ServerState,
    messages: list[Message],
    *,
    add_generation_prompt: bool | None,
    continue_final_message: bool,
    variables: dict[str, Any] | None = None,
) -> list[int]:
    """Messages to token ids by the model's chat template.

    Raises:
        InvalidRequestError: when the model has no template, or it refuses or would drop what is
            in the messages.
        ContextLengthError: when they are longer than any that fit the model.
    """
    if state.template is None:
        raise InvalidRequestError("this model has no chat template", param="messages")
    if continue_final_message and add_generation_prompt:
        raise InvalidRequestError(
            "add_generation_prompt would begin a new message; "
            "it cannot be joined with continue_final_message",
            param="add_generation_prompt",
        )
    if add_generation_prompt is None:
        add_generation_prompt = not continue_final_message
    shaped = [message.for_template() for message in messages]
    for index, message in enumerate(messages):
        if message.name is not None and not state.template.shows_names:
            raise InvalidRequestError(
                "this model's chat template does not show names", param=f"messages[{index}].name"
            )
    state.check_text(sum(len(message["content"]) for message in shaped), "messages")
    pieces = state.template.render(
        shaped,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        variables=variables,
    )
    token_ids: list[int] = []
    for piece in pieces:
        token_ids += await encode(state, piece, add_special_tokens=False)
    return token_ids
