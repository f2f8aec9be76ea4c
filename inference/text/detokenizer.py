"""Tokens to text while they arrive, never emitting half a character."""

from __future__ import annotations

import codecs

from inference.text.tokenizer import TextTokenizer


class StreamingDetokenizer:
    """Joins the tokens' bytes and releases whole UTF-8 characters only.

    The pieces together are what `TextTokenizer.decode` gives for all tokens at once.
    """

    def __init__(
        self,
        tokenizer: TextTokenizer,
        *,
        skip_special_tokens: bool = True,
        shown: frozenset[int] = frozenset(),
    ) -> None:
        """
        Args:
            shown: special tokens that are text all the same.
        """
        self._tokenizer = tokenizer
        self._skip_special = skip_special_tokens
        self._shown = shown
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token_id: int) -> str:
        """The text that this token completes; empty while a character is unfinished."""
        if self._skip_special and self._tokenizer.is_special(token_id):
            return self._tokenizer.decode([token_id]) if token_id in self._shown else ""
        return self._decoder.decode(self._tokenizer.token_bytes(token_id))

    @property
    def is_inside_character(self) -> bool:
        """Whether the last token left a character unfinished."""
        return bool(self._decoder.getstate()[0])

    def finish(self) -> str:
        """What is left: U+FFFD when the sequence ended inside a character."""
        return self._decoder.decode(b"", final=True)
