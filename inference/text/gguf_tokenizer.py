"""The tokenizer and chat template inside a GGUF file, rebuilt for `tokenizers`.

GGUF names the splitting rule before BPE (`tokenizer.ggml.pre`) instead of describing it,
so the rules are spelled out here.
"""

from __future__ import annotations

from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from inference.errors import ModelLoadError
from inference.text.sentencepiece_bpe import sentencepiece_bpe
from inference.text.tokenizer import TextTokenizer

_CONTROL, _USER_DEFINED = 3, 4
_LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2_WORDS = _LLAMA3_WORDS.replace(r"\p{N}{1,3}", r"\p{N}")


def tokenizer_from_gguf(metadata: dict[str, Any]) -> TextTokenizer:
    """Build the tokenizer that the file describes.

    Raises:
        ModelLoadError: when its kind is not implemented.
    """
    kind = metadata.get("tokenizer.ggml.model")
    if kind == "llama":
        tokenizer = sentencepiece_bpe(metadata)
    elif kind == "gpt2":
        tokenizer = _byte_level_bpe(metadata)
    else:
        raise ModelLoadError(f"GGUF tokenizer {kind!r} is not implemented")
    tokens: list[str] = metadata["tokenizer.ggml.tokens"]
    types: list[int] = metadata["tokenizer.ggml.token_type"]
    tokenizer.add_tokens(
        [AddedToken(t, normalized=False) for t in _of(tokens, types, _USER_DEFINED)]
    )
    tokenizer.add_special_tokens(
        [AddedToken(t, special=True, normalized=False) for t in _of(tokens, types, _CONTROL)]
    )

    def named(key: str) -> str | None:
        token_id = metadata.get(f"tokenizer.ggml.{key}_token_id")
        return None if token_id is None else tokens[token_id]

    return TextTokenizer(
        tokenizer,
        bos_token=named("bos"),
        eos_token=named("eos"),
        # Llama's have it where the file says nothing, as llama.cpp takes it.
        add_bos=bool(metadata.get("tokenizer.ggml.add_bos_token", kind == "llama")),
    )


def _byte_level_bpe(metadata: dict[str, Any]) -> Tokenizer:
    """Without its special and user-defined tokens."""
    tokens: list[str] = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = _splitting(metadata.get("tokenizer.ggml.pre", "default"))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _of(tokens: list[str], types: list[int], wanted: int) -> list[str]:
    return [token for token, kind in zip(tokens, types, strict=True) if kind == wanted]


def _splitting(name: str) -> pre_tokenizers.PreTokenizer:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    match name:
        case "default" | "gpt-2":
            return pre_tokenizers.ByteLevel(add_prefix_space=False)
        case "smollm":
            return pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Digits(individual_digits=True),
                    pre_tokenizers.ByteLevel(add_prefix_space=False),
                ]
            )
        case "llama-bpe":
            words = pre_tokenizers.Split(Regex(_LLAMA3_WORDS), "isolated")
            return pre_tokenizers.Sequence([words, byte_level])
        case "qwen2":
            words = pre_tokenizers.Split(Regex(_QWEN2_WORDS), "isolated")
            return pre_tokenizers.Sequence([words, byte_level])
    raise ModelLoadError(f"GGUF pre-tokenizer {name!r} is not implemented")
