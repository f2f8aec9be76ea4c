"""The tokenizer and chat template inside a GGUF file, rebuilt for `tokenizers`.

GGUF names the splitting rule before BPE (`tokenizer.ggml.pre`) instead of describing it,
so the rules are spelled out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

from inference.errors import ModelLoadError
from inference.text.sentencepiece_bpe import sentencepiece_bpe
from inference.text.tokenizer import TextTokenizer
from inference.text.wordpiece import wordpiece

_CONTROL, _USER_DEFINED = 3, 4
_LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2_WORDS = _LLAMA3_WORDS.replace(r"\p{N}{1,3}", r"\p{N}")
_HEAD, _TAIL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_TEKKEN_WORDS = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_HEAD}*{_TAIL}+|[^\r\n\p{{L}}\p{{N}}]?{_HEAD}+{_TAIL}*|\p{{N}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K_WORDS = (
    _TEKKEN_WORDS.replace(f"{_TAIL}+", f"{_TAIL}+{_CONTRACTION}")
    .replace(f"{_TAIL}*|", f"{_TAIL}*{_CONTRACTION}|")
    .replace(r"|\p{N}|", r"|\p{N}{1,3}|")
)
_IDEOGRAPHS = r"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_DEEPSEEK3_WORDS = (
    r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# DeepSeek lists the letters with a case of the Unicode of its day, which lacks those of formulas.
_DEEPSEEK2_RULES = (
    r"[\r\n]",
    r"\s?(?:(?![\x{1d400}-\x{1d7ff}])[\p{Lu}\p{Ll}\p{Lt}])+",
    r"\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+",
    r"\s+$",
    r"[\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+",
    r"\p{N}",
)


@dataclass(frozen=True)
class _Reading:
    """What `tokenizer.ggml.pre` stands for."""

    words: pre_tokenizers.PreTokenizer
    normalizer: normalizers.Normalizer | None = None
    ignore_merges: bool = False
    """A word that is a token itself is taken whole, whatever the merges say."""
    add_bos: bool = False
    """Where the file does not say."""


def tokenizer_from_gguf(metadata: dict[str, Any]) -> TextTokenizer:
    """Build the tokenizer that the file describes.

    Raises:
        ModelLoadError: when its kind is not implemented, or a part of it is missing or damaged.
    """
    kind = metadata.get("tokenizer.ggml.model")
    try:
        if kind == "llama":
            return _with_added_tokens(sentencepiece_bpe(metadata), metadata, add_bos=True)
        if kind == "gpt2":
            reading = _reading(metadata.get("tokenizer.ggml.pre", "default"))
            tokenizer = _byte_level_bpe(metadata, reading)
            return _with_added_tokens(tokenizer, metadata, add_bos=reading.add_bos)
        if kind == "bert":
            known = wordpiece(metadata)
            return TextTokenizer(known, bos_token=None, eos_token=None, add_bos=False)
    except KeyError as error:
        raise ModelLoadError(f"the file has no {error.args[0]}") from error
    raise ModelLoadError(f"GGUF tokenizer {kind!r} is not implemented")


def _with_added_tokens(
    tokenizer: Tokenizer, metadata: dict[str, Any], *, add_bos: bool
) -> TextTokenizer:
    """With the file's user-defined and control tokens, which are found in any text.

    Args:
        add_bos: whether texts begin with BOS where the file does not say.
    """
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
        add_bos=bool(metadata.get("tokenizer.ggml.add_bos_token", add_bos)),
    )


def _byte_level_bpe(metadata: dict[str, Any], reading: _Reading) -> Tokenizer:
    """Without its special and user-defined tokens."""
    ids = {piece: i for i, piece in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in metadata["tokenizer.ggml.merges"]]
    try:
        model = models.BPE(ids, merges, ignore_merges=reading.ignore_merges)
    except Exception as error:  # tokenizers raises nothing narrower for a token that is not there
        raise ModelLoadError(f"the file's merges do not fit its tokens: {error}") from error
    tokenizer = Tokenizer(model)
    if reading.normalizer is not None:
        tokenizer.normalizer = reading.normalizer
    tokenizer.pre_tokenizer = reading.words
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _of(tokens: list[str], types: list[int], wanted: int) -> list[str]:
    return [token for token, kind in zip(tokens, types, strict=True) if kind == wanted]


def _reading(name: str) -> _Reading:
    """As the models' own tokenizers have it, and llama.cpp for what they leave open.

    Raises:
        ModelLoadError: when the name is not known.
    """
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def split(*rules: str) -> pre_tokenizers.PreTokenizer:
        """By each in turn: what one has split, the next ones split further."""
        each = [pre_tokenizers.Split(Regex(words), "isolated") for words in rules]
        return pre_tokenizers.Sequence([*each, byte_level])

    match name:
        case "default" | "gpt-2":
            return _Reading(pre_tokenizers.ByteLevel(add_prefix_space=False))
        case "smollm" | "refact" | "starcoder":
            digits = pre_tokenizers.Digits(individual_digits=True)
            words = pre_tokenizers.ByteLevel(add_prefix_space=False)
            return _Reading(pre_tokenizers.Sequence([digits, words]))
        case "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "falcon-h1" | "pixtral":
            return _Reading(split(_LLAMA3_WORDS), ignore_merges=True, add_bos=True)
        case "qwen2":
            return _Reading(split(_QWEN2_WORDS), normalizers.NFC())
        case "dbrx" | "smaug-bpe":
            return _Reading(split(_LLAMA3_WORDS))
        case "gpt-4o" | "llama4":
            return _Reading(split(_O200K_WORDS))
        case "deepseek-llm":
            return _Reading(split(*_DEEPSEEK2_RULES))
        case "deepseek-v3":
            return _Reading(split(r"\p{N}{1,3}", _IDEOGRAPHS, _DEEPSEEK3_WORDS))
        case "tekken":
            return _Reading(split(_TEKKEN_WORDS), ignore_merges=True, add_bos=True)
    raise ModelLoadError(f"GGUF pre-tokenizer {name!r} is not implemented")
