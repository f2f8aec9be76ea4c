"""Chat templates that are wrong or say too little, mended as they are read.

Each mend names a text of a published template, so that no other template is touched.
"""

from __future__ import annotations

_CODER_FORM = (
    r"<tool_call>\n{{\"name\": <function-name>, \"arguments\": <args-json-object>}}"
    r"\n</tool_call><|im_end|>\n"
)
"""Qwen2.5-Coder's form of a call has braces twice, as no call has; Qwen 2.5's own has them once."""
_WHEN_TO_CALL = (
    r"\n\nWhen the user asks for something that a function gives, reply with the call and nothing"
    r" else, one line for each call. For everything else reply in plain words: greetings, questions"
    r" of knowledge, code. When a function's result is there already, answer the user's question"
    r" with it in plain words."
)
"""Without it the 1.5B calls a function in answer to a greeting, and again after its result;
docs/decisions/0255 has the rates."""

_MENDS = (
    (
        _CODER_FORM,
        _CODER_FORM.replace("{{", "{")
        .replace("}}", "}")
        .replace("<|im_end|>", f"{_WHEN_TO_CALL}<|im_end|>"),
    ),
)


def mended(source: str) -> str:
    """The template, mended where it is one of those."""
    for wrong, right in _MENDS:
        source = source.replace(wrong, right)
    return source
