"""A model's tokenizer: text to ids, and ids to the exact bytes they stand for.

Bytes, not strings, are what a token is: a character may be spread over several tokens.
The streaming detokenizer and the `bytes` of log probabilities need exactly that.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from itertools import accumulate

from tokenizers import Tokenizer

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TextTokenizer:
    def __init__(
        self, tokenizer: Tokenizer, *, bos_token: str | None, eos_token: str | None, add_bos: bool
    ) -> None:
        self._tokenizer = tokenizer
        self.bos_token, self.eos_token = bos_token, eos_token
        self._bos_id = tokenizer.token_to_id(bos_token) if bos_token and add_bos else None
        self.vocab_size = tokenizer.get_vocab_size()
        self._bytes = _TokenBytes(_bytes_by_id(tokenizer))
        self._adds_space = self._reads_with_space()
        self._special = {
            token_id: added.content
            for token_id, added in tokenizer.get_added_tokens_decoder().items()
            if added.special
        }

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Token ids of `text`; special tokens written out in it are recognised.

        A megabyte takes a second. Other threads run meanwhile: the library lets them in where it
        is given a batch, and only there.
        """
        [encoded] = self._tokenizer.encode_batch_fast([text], add_special_tokens=add_special_tokens)
        ids = encoded.ids
        if add_special_tokens and self._bos_id is not None:
            return [self._bos_id, *ids]
        return list(ids)

    @property
    def longest_token(self) -> int:
        """Bytes of the longest token: a text of more than n times that has more than n tokens."""
        return self._bytes.longest

    @property
    def special_tokens(self) -> frozenset[str]:
        """The texts that `encode` reads as control tokens."""
        return frozenset(self._special.values())

    def is_special(self, token_id: int) -> bool:
        return token_id in self._special

    def special_id(self, text: str) -> int | None:
        """The control token that `text` spells; None where it spells none."""
        return next((token_id for token_id, one in self._special.items() if one == text), None)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes a token stands for; empty for ids that the vocabulary lacks."""
        return self._bytes.of(token_id)

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool = False) -> str:
        """Text of tokens that follow others; incomplete characters become U+FFFD."""
        kept = (i for i in token_ids if not (skip_special_tokens and i in self._special))
        return b"".join(map(self.token_bytes, kept)).decode("utf-8", "replace")

    def decode_prompt(self, token_ids: list[int]) -> str:
        """The text that `encode` makes these tokens of: without the space that SentencePiece
        puts before it."""
        count = next(
            (at for at, i in enumerate(token_ids) if i not in self._special), len(token_ids)
        )
        text = self.decode(token_ids[count:])
        if self._adds_space:
            text = text.removeprefix(" ")
        return self.decode(token_ids[:count]) + text

    def _reads_with_space(self) -> bool:
        """Whether texts are read as if they began with a space, as SentencePiece does."""
        first = self._tokenizer.encode("a", add_special_tokens=False).ids[:1]
        return bool(first) and self.token_bytes(first[0]).startswith(b" ")


class _TokenBytes:
    """What every id stands for, one after another: an object for each would take ten times that."""

    def __init__(self, by_id: Mapping[int, bytes]) -> None:
        each = [by_id.get(token_id, b"") for token_id in range(max(by_id, default=-1) + 1)]
        self._all = b"".join(each)
        self._ends = array("I", accumulate(map(len, each)))
        self.longest = max(map(len, each), default=0)

    def of(self, token_id: int) -> bytes:
        if not 0 <= token_id < len(self._ends):
            return b""
        begin = self._ends[token_id - 1] if token_id else 0
        return self._all[begin : self._ends[token_id]]


def _bytes_by_id(tokenizer: Tokenizer) -> dict[int, bytes]:
    """What every id stands for, read from the vocabulary in its tokenizer's spelling."""
    added = {i: t.content.encode() for i, t in tokenizer.get_added_tokens_decoder().items()}
    spell = _byte_level if _is_byte_level(tokenizer) else _sentencepiece
    vocabulary = tokenizer.get_vocab(with_added_tokens=False)
    return {token_id: spell(piece) for piece, token_id in vocabulary.items()} | added


def _is_byte_level(tokenizer: Tokenizer) -> bool:
    # Its state as JSON: that of the whole tokenizer would be megabytes.
    return tokenizer.decoder is not None and b'"ByteLevel"' in tokenizer.decoder.__getstate__()


def _byte_level(piece: str) -> bytes:
    """A piece with a character outside the alphabet is written as plain text, as tokenizers'
    ByteLevel decoder reads it."""
    try:
        return bytes(_BYTE_OF[character] for character in piece)
    except KeyError:
        return piece.encode()


def _sentencepiece(piece: str) -> bytes:
    if match := _BYTE_TOKEN.fullmatch(piece):
        return bytes([int(match[1], 16)])
    return piece.replace("\u2581", " ").encode()


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-in for each byte: itself where printable, else from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + index): byte for index, byte in enumerate(others)
    }


_BYTE_OF = _byte_alphabet()
