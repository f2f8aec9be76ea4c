"""What a body gives as its prompt, as token ids: texts, token ids, or messages by the template.

What cannot fit the model is refused before it is tokenized, and long texts are tokenized beside
the event loop: a text of some megabytes takes as many seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inference.core import PromptImage
from inference.errors import InvalidRequestError
from inference.images.place import expand_marks, place_images
from inference.server.images import prepare_images
from inference.server.schemas import InputMessage, Prompts
from inference.server.state import ServerState
from inference.text.chat_template import ChatTemplate

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


_FILL_IN_MARKS = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
)
"""Around what comes before and after a gap: Qwen's coders; StarCoder 2 and Granite."""


async def with_suffix(state: ServerState, prompts: list[list[int]], suffix: str) -> list[list[int]]:
    """Prompts that ask for what stands between each and `suffix`, as the model was trained to.

    Raises:
        InvalidRequestError: it was not: its vocabulary has no such marks.
    """
    found = [tuple(map(state.tokenizer.special_id, marks)) for marks in _FILL_IN_MARKS]
    for before, after, middle in found:
        if before is None or after is None or middle is None:
            continue
        state.check_text(len(suffix), "suffix")
        rest = await encode(state, suffix, add_special_tokens=False)
        return [[before, *prompt, after, *rest, middle] for prompt in prompts]
    raise InvalidRequestError("this model does not fill in", param="suffix")


@dataclass(frozen=True)
class Rendered:
    """A chat as its model reads it.

    Attributes:
        opens_thought: it has the model think first: the answer begins in a thought.
        images: what its image tokens stand for.
    """

    token_ids: list[int]
    opens_thought: bool
    images: tuple[PromptImage, ...] = ()


async def render_prompt(
    state: ServerState,
    messages: list[InputMessage],
    *,
    add_generation_prompt: bool | None,
    continue_final_message: bool,
    variables: dict[str, Any] | None = None,
    tools: list[dict[str, Any]] | None = None,
    thinks: bool = True,
) -> Rendered:
    """Messages to token ids by the model's chat template.

    Args:
        tools: that are shown to the model.
        thinks: false: a thought that the template begins is ended at once.
    Raises:
        InvalidRequestError: when the model has no template, or it refuses or would drop what is
            in the messages.
        ContextLengthError: when they are longer than any that fit the model.
    """
    template = state.chat_template
    if continue_final_message and add_generation_prompt:
        raise InvalidRequestError(
            "add_generation_prompt would begin a new message; "
            "it cannot be joined with continue_final_message",
            param="add_generation_prompt",
        )
    if add_generation_prompt is None:
        add_generation_prompt = not continue_final_message
    _check_messages(messages, template)
    state.check_text(_characters(messages), "messages")
    images = await prepare_images(state, messages)
    in_parts = state.images is not None and template.takes_parts
    shaped = [message.for_template(template.tool_format, in_parts=in_parts) for message in messages]
    last = messages[-1]
    writes = continue_final_message and bool(last.tool_calls or last.reasoning_content)
    if writes:
        # Templates close calls and leave thoughts out, so what goes on is written here.
        shaped, continue_final_message, add_generation_prompt = shaped[:-1], False, True
    segments = template.render(
        shaped,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        variables=variables,
        tools=tools,
    )
    opened = template.opens_thought(segments)
    begun: list[str] = []
    if opened and template.reasoning_format is not None and not thinks:
        begun, opened = [template.reasoning_format.closing.lstrip("\n")], False
    if writes:
        begun += answer_segments(template, last, opened=opened)
    if begun:
        segments = [*segments[:-1], segments[-1] + begun[0], *begun[1:]]
    if not images or state.images is None:
        return Rendered(await _encode_segments(state, segments), opened)
    segments = expand_marks(segments, state.images.mark, images)
    token_ids = await _encode_segments(state, segments)
    image_token = state.tokenizer.special_id(state.images.image_token)
    if image_token is None:
        raise InvalidRequestError("this model's tokenizer has no image token", param="messages")
    placed = await state.off_loop(place_images, token_ids, image_token, images)
    return Rendered(token_ids, opened, placed)


async def answer_tokens(
    state: ServerState, message: InputMessage, *, opened: bool = False
) -> list[int]:
    """The tokens of an answer that is continued, as far as it is: what a grammar has consumed.

    Args:
        opened: the prompt began its thought.
    """
    segments = answer_segments(state.chat_template, message, opened=opened)
    return await _encode_segments(state, segments)


def answer_segments(template: ChatTemplate, message: InputMessage, *, opened: bool) -> list[str]:
    """The text of an answer that is continued, in segments to be tokenized apart."""
    form = template.tool_format
    said = form.text_of(message.text, message.calls)
    thought: list[tuple[str, bool]] = []
    is_call = bool(message.calls) and (not message.text or form.preamble is not None)
    if template.reasoning_format is not None:
        thought = template.reasoning_format.text_of(
            message.reasoning_content or "",
            opened=opened,
            ended=any(text for text, _ in said),
            calls=is_call,
        )
    if form.preface and message.text and not thought and not is_call:
        said.insert(0, (form.preface, True))
    return template.segments_of([*thought, *said])


async def _encode_segments(state: ServerState, segments: list[str]) -> list[int]:
    token_ids: list[int] = []
    for segment in segments:
        token_ids += await encode(state, segment, add_special_tokens=False)
    return token_ids


def _characters(messages: list[InputMessage]) -> int:
    return sum(
        len(message.text) + sum(len(call.name) + len(call.arguments) for call in message.calls)
        for message in messages
    )


def _check_messages(messages: list[InputMessage], template: ChatTemplate) -> None:
    for index, message in enumerate(messages):
        if message.name is not None and not template.shows_names:
            raise InvalidRequestError(
                "this model's chat template does not show names", param=f"messages[{index}].name"
            )
        if message.tool_calls and message.role != "assistant":
            raise InvalidRequestError(
                "only an assistant's message has tool_calls", param=f"messages[{index}].tool_calls"
            )
        if message.content is None and not message.tool_calls:
            raise InvalidRequestError(
                "only a message with tool_calls has no content", param=f"messages[{index}].content"
            )
