"""BERT's WordPiece from a GGUF file, rebuilt for `tokenizers`.

GGUF writes a piece that begins a word with a `▁` before it, and one that goes on with a word as it
is; BERT's own files have nothing before the former and `##` before the latter. Whether texts are
put into small letters no file says: a vocabulary without a capital letter means it.
Source: Devlin et al. 2018; llama.cpp's converter.
"""

from __future__ import annotations

from typing import Any

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

_CONTROL = 3
_BEGINS_WORD = "\u2581"


def wordpiece(metadata: dict[str, Any]) -> Tokenizer:
    """With the tokens around a text.

    Raises:
        KeyError: with the entry that is missing.
    """
    tokens: list[str] = metadata["tokenizer.ggml.tokens"]
    types: list[int] = metadata["tokenizer.ggml.token_type"]
    special = [token for token, kind in zip(tokens, types, strict=True) if kind == _CONTROL]
    pieces = [_spelled(token, kind) for token, kind in zip(tokens, types, strict=True)]
    unknown = tokens[metadata["tokenizer.ggml.unknown_token_id"]]
    vocabulary = {piece: token_id for token_id, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    known_as_small = all(p == p.lower() for p in pieces if p not in special)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=known_as_small)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    # `seperator` is how GGUF spells it.
    begin, end = _id(metadata, "cls", "bos"), _id(metadata, "seperator", "eos")
    tokenizer.post_processor = processors.BertProcessing((tokens[end], end), (tokens[begin], begin))
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in special])
    return tokenizer


def _spelled(token: str, kind: int) -> str:
    """As BERT's own files have it."""
    if kind == _CONTROL:
        return token
    if token.startswith(_BEGINS_WORD) and token != _BEGINS_WORD:
        return token.removeprefix(_BEGINS_WORD)
    return f"##{token}"


def _id(metadata: dict[str, Any], *keys: str) -> int:
    """Files of different ages have it under different names."""
    found = [metadata.get(f"tokenizer.ggml.{key}_token_id") for key in keys]
    known = [token_id for token_id in found if token_id is not None]
    return known[0] if known else metadata[f"tokenizer.ggml.{keys[0]}_token_id"]
