"""SentencePiece's BPE, as Llama 2 and Mistral have it, rebuilt for `tokenizers` from pieces and
scores.

SentencePiece joins the neighbours whose union has the best score, again and again; there is no
list of merges. One is written out here: every way to cut a piece into two others, in the order of
the whole piece's score. A space is written `▁`, every stretch of text between special tokens begins
with one more of them, and characters without a piece become bytes (`<0x0A>`).
Source: Kudo and Richardson 2018 (SentencePiece); llama.cpp for what follows a special token.
"""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers

_NORMAL = 1
_SPACE = "\u2581"


def sentencepiece_bpe(metadata: dict[str, Any]) -> Tokenizer:
    """The tokenizer of a GGUF file whose `tokenizer.ggml.model` is `llama`, without its special
    and user-defined tokens: those are added alike for all kinds."""
    tokens: list[str] = metadata["tokenizer.ggml.tokens"]
    merges = merges_of(
        tokens, metadata["tokenizer.ggml.scores"], metadata["tokenizer.ggml.token_type"]
    )
    unknown = tokens[metadata.get("tokenizer.ggml.unknown_token_id", 0)]
    tokenizer = Tokenizer(
        models.BPE(
            {piece: i for i, piece in enumerate(tokens)},
            merges,
            unk_token=unknown,
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    spaces: list[normalizers.Normalizer] = [normalizers.Replace(" ", _SPACE)]
    if metadata.get("tokenizer.ggml.add_space_prefix", True):
        spaces.insert(0, normalizers.Prepend(_SPACE))
    tokenizer.normalizer = normalizers.Sequence(spaces)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return tokenizer


def merges_of(tokens: list[str], scores: list[float], types: list[int]) -> list[tuple[str, str]]:
    """The pairs that join to a piece, the best piece first; of equal ones that with the smaller id.

    Only normal pieces are made and joined: control tokens, bytes and unused pieces never are.
    """
    ids = {
        piece: i
        for i, (piece, kind) in enumerate(zip(tokens, types, strict=True))
        if kind == _NORMAL
    }
    best_first = sorted(ids, key=lambda piece: (-scores[ids[piece]], ids[piece]))
    return [
        (piece[:cut], piece[cut:])
        for piece in best_first
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids
    ]
