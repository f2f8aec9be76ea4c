"""Tokens of a request before it is tokenized: for limits and budgets, never for bills.

Rate limits charge a likely count (`*_estimate`) and are set right at the end. A budget must not
be passed, so it reserves a count that no tokenizer exceeds (`*_bound`, `output_limit`).
"""

import json
import unicodedata
from collections.abc import Sequence

from backend.conversations.types import ChatMessage, ImagePart, Part, UntrustedPart
from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest
from backend.generation.tools import Tools
from safety.judge.spotlight import spotlight

# English text has about four characters a token; code and other scripts have fewer. Three errs
# on the side of counting too much, and what was counted too much is given back at the end.
_CHARACTERS_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 8
# At most what a chat template writes around a message, and once around all of them: its own system
# message, dates, the opening of the answer.
_MAX_TOKENS_AROUND_MESSAGE = 16
_MAX_TOKENS_AROUND_PROMPT = 256
# At most what a chat template says of tools beside their descriptions.
_MAX_TOKENS_AROUND_TOOLS = 1024
# As long as the marker that untrusted content gets.
_MARKER = "0" * 16
# What an answer is assumed to need when the caller sets no limit: most are shorter.
_USUAL_OUTPUT = 512
# Tokens that may come with the one that reaches a limit that no upstream was sent.
_LAST_STEP = 16


def text_estimate(text: str) -> int:
    return 1 + len(text) // _CHARACTERS_PER_TOKEN


def input_estimate(request: GenerationRequest) -> int:
    if request.endpoint == "completion":
        return text_estimate(request.suffix) + sum(
            len(prompt) if isinstance(prompt, list) else text_estimate(prompt)
            for prompt in request.prompts
        )
    tools = text_estimate(_tools_text(request.tools)) if request.tools else 0
    return tools + sum(
        _TOKENS_PER_MESSAGE + len(message.text) // _CHARACTERS_PER_TOKEN
        for message in request.messages
    )


def input_bound(request: GenerationRequest, pool: PoolConfig) -> int:
    """The most tokens that the prompt can be billed as.

    A replica refuses what is longer than its context window, so that is never more.
    """
    if request.endpoint == "completion":
        suffixes = request.groups * text_bound(request.suffix)
        return min(
            suffixes + prompts_bound(request.prompts, pool), request.groups * pool.context_window
        )
    bound = _MAX_TOKENS_AROUND_PROMPT
    if request.tools is not None:
        bound += _MAX_TOKENS_AROUND_TOOLS + text_bound(_tools_text(request.tools))
    for message in request.messages:
        bound += _MAX_TOKENS_AROUND_MESSAGE + _message_bound(message, pool)
    return min(bound, pool.context_window)


def prompts_bound(prompts: Sequence[str | list[int]], pool: PoolConfig) -> int:
    """The most tokens of texts or token ids that are each read alone, as in embeddings."""
    return sum(
        min(
            _MAX_TOKENS_AROUND_MESSAGE
            + (text_bound(prompt) if isinstance(prompt, str) else len(prompt)),
            pool.context_window,
        )
        for prompt in prompts
    )


def text_bound(text: str) -> int:
    """The most tokens of `text`: a token stands for a byte or more. Some tokenizers read it in
    normal form C, which can have up to three times the bytes."""
    if text.isascii():
        return len(text)
    composed = unicodedata.normalize("NFC", text)
    return max(len(form.encode(errors="surrogatepass")) for form in (text, composed))


def _tools_text(tools: Tools) -> str:
    """As the widest of the known templates writes them."""
    return json.dumps(tools.tools, indent=4, ensure_ascii=False)


def _message_bound(message: ChatMessage, pool: PoolConfig) -> int:
    bound = text_bound(message.role) + text_bound(message.name or "")
    for call in message.tool_calls:
        # A template may write the arguments anew, with spaces between their parts.
        bound += _MAX_TOKENS_AROUND_MESSAGE + text_bound(call.id + call.name)
        bound += 2 * text_bound(call.arguments)
    if message.role == "tool":
        # Where the template knows no tools, tags stand around it.
        return bound + _MAX_TOKENS_AROUND_MESSAGE + _marked_bound("a tool's result", message.text)
    if isinstance(message.content, str):
        return bound + text_bound(message.content)
    return bound + sum(_part_bound(part, pool) for part in message.content)


def _part_bound(part: Part, pool: PoolConfig) -> int:
    """Parts may be joined by a blank line: two bytes more."""
    if isinstance(part, ImagePart):
        return pool.max_image_tokens or pool.context_window
    if isinstance(part, UntrustedPart):
        return 2 + _marked_bound(part.source, part.named_text)
    return 2 + text_bound(part.text)


def _marked_bound(source: str, text: str) -> int:
    """Of untrusted content, which is marked as data before a model reads it."""
    return max(
        text_bound(spotlight(text, source=source, datamark=datamark, marker=_MARKER))
        for datamark in (False, True)
    )


def output_limit(request: GenerationRequest, pool: PoolConfig) -> int:
    """The most tokens that all choices together can be billed."""
    limit = pool.answer_limit(request)
    if request.params.max_tokens is None:
        limit = min(limit + _LAST_STEP, pool.max_output_tokens)
    return request.n * limit


def output_estimate(request: GenerationRequest, pool: PoolConfig) -> int:
    """What the tokens-a-minute limit charges beforehand: what was asked for, else the usual."""
    limit = output_limit(request, pool)
    if request.params.max_tokens is None:
        return min(request.n * _USUAL_OUTPUT, limit)
    return limit
