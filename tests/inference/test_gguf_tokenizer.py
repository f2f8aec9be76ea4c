"""Byte-level BPE vocabularies in GGUF files give the tokens of the tokenizers they were made of.

A small BPE is trained. It is written into a GGUF file as llama.cpp's converter does, and built
beside it as the model's own tokenizer is: Qwen2's by transformers, Llama 3's from the parts that
its tokenizer.json names.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import gguf
import pytest
import regex
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public
from tokenizers import (
    AddedToken,
    PreTokenizedString,
    Regex,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)

from inference.errors import ModelLoadError
from inference.text.gguf_tokenizer import _reading
from inference.text.load import load_text
from inference.text.tokenizer import TextTokenizer

TRAINED_ON = Path("inference/bench/perplexity_text.txt")
BEGIN, END = "<｜begin▁of▁sentence｜>", "<|eot_id|>"  # noqa: RUF001 (DeepSeek's own spelling)
OUTSIDE = "中▁é"
"""A normal entry with characters that are not of GPT-2's byte alphabet."""
UNMERGED = "engine"
"""In the vocabulary, but no list of merges leads to it."""
LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXTS = [
    "The engine reads a page, and then the next one.",
    "  leading,   several    and trailing spaces  ",
    "line\nbreaks\r\n\n\n\tand tabs",
    "1234567890 3.14 don't DON'T",
    "Grüße, naïve café — 東京 🙂 \u0000\u00a0",
    unicodedata.normalize("NFD", "Grüße, naïve café, が"),
    "engine",
    "",
    " ",
]


@dataclass(frozen=True)
class Vocabulary:
    tokens: list[str]
    merges: list[tuple[str, str]]

    @property
    def ids(self) -> dict[str, int]:
        return {token: i for i, token in enumerate(self.tokens)}

    def kind(self, token: str) -> gguf.TokenType:
        special = token in (BEGIN, END)
        return gguf.TokenType.CONTROL if special else gguf.TokenType.NORMAL


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    trained.train_from_iterator(TRAINED_ON.read_text().splitlines(), trainer)
    by_id = sorted((i, token) for token, i in trained.get_vocab().items())
    tokens = [token for _, token in by_id]
    assert UNMERGED not in tokens
    merges = [pair for pair in merges_of(trained) if "".join(pair) != UNMERGED]
    return Vocabulary([*tokens, UNMERGED, OUTSIDE, BEGIN, END], merges)


def merges_of(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(first, second) for first, second in merges]


def write(path: Path, vocabulary: Vocabulary, pre: str, *, merges: bool = True) -> Path:
    """A file of metadata alone, without the key that says whether BOS is added."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types([vocabulary.kind(token) for token in vocabulary.tokens])
    if merges:
        writer.add_token_merges([" ".join(pair) for pair in vocabulary.merges])
    writer.add_bos_token_id(vocabulary.ids[BEGIN])
    writer.add_eos_token_id(vocabulary.ids[END])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def llama3(vocabulary, tmp_path_factory) -> TextTokenizer:
    path = tmp_path_factory.mktemp("llama3") / "vocabulary.gguf"
    return load_text(str(write(path, vocabulary, "llama-bpe")))[0]


@pytest.fixture(scope="module")
def qwen2(vocabulary, tmp_path_factory) -> TextTokenizer:
    path = tmp_path_factory.mktemp("qwen2") / "vocabulary.gguf"
    return load_text(str(write(path, vocabulary, "qwen2")))[0]


@pytest.fixture(scope="module")
def reference_llama3(vocabulary) -> Tokenizer:
    reference = Tokenizer(models.BPE(vocabulary.ids, vocabulary.merges, ignore_merges=True))
    reference.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA3_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    reference.decoder = decoders.ByteLevel()
    reference.add_special_tokens([AddedToken(t, normalized=False) for t in (BEGIN, END)])
    return reference


@pytest.fixture(scope="module")
def reference_qwen2(vocabulary) -> transformers.Qwen2Tokenizer:
    return transformers.Qwen2Tokenizer(
        vocab=vocabulary.ids, merges=vocabulary.merges, eos_token=END, pad_token=END, unk_token=END
    )


@pytest.mark.parametrize("text", TEXTS)
def test_llama3_tokens_are_those_of_its_tokenizer_json(llama3, reference_llama3, text):
    wanted = reference_llama3.encode(text, add_special_tokens=False).ids
    assert llama3.encode(text, add_special_tokens=False) == wanted


@pytest.mark.parametrize("text", TEXTS)
def test_qwen2_tokens_are_those_of_transformers(qwen2, reference_qwen2, text):
    wanted = reference_qwen2.encode(text, add_special_tokens=False)
    assert qwen2.encode(text, add_special_tokens=False) == wanted


PARTS = [*"aenrst ,.\nTh'1é東", "e\u0301", "engine", " the", "12345"]


@given(
    text=st.lists(st.sampled_from(PARTS) | st.characters(codec="utf-8"), max_size=12).map("".join)
)
@settings(max_examples=80)
def test_any_text_gives_the_reference_tokens(
    llama3, reference_llama3, qwen2, reference_qwen2, text
):
    wanted = reference_llama3.encode(text, add_special_tokens=False).ids
    assert llama3.encode(text, add_special_tokens=False) == wanted
    assert llama3.decode(wanted) == text
    wanted = reference_qwen2.encode(text, add_special_tokens=False)
    assert qwen2.encode(text, add_special_tokens=False) == wanted


@pytest.fixture(scope="module")
def gpt4o(vocabulary, tmp_path_factory) -> TextTokenizer:
    path = tmp_path_factory.mktemp("gpt-4o") / "vocabulary.gguf"
    return load_text(str(write(path, vocabulary, "gpt-4o")))[0]


@pytest.fixture(scope="module")
def reference_gpt4o(vocabulary) -> Tokenizer:
    """With the expression that OpenAI publishes, read by the library it is written for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
        words = regex.compile(openai_public.o200k_base()["pat_str"])

    class Words:
        def pre_tokenize(self, text: PreTokenizedString) -> None:
            text.split(lambda _, part: [part[slice(*m.span())] for m in words.finditer(str(part))])

    reference = Tokenizer(models.BPE(vocabulary.ids, vocabulary.merges))
    reference.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.PreTokenizer.custom(Words()),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return reference


CAMEL = ["parseHTTPResponse", "DON'Ts", "ÉTÉ été", "a/b//\n", "12345"]


@given(
    text=st.lists(
        st.sampled_from([*PARTS, *CAMEL]) | st.characters(codec="utf-8"), max_size=12
    ).map("".join)
)
@settings(max_examples=80)
def test_any_text_gives_the_tokens_of_openais_expression(gpt4o, reference_gpt4o, text):
    assert gpt4o.encode(text) == reference_gpt4o.encode(text).ids


@pytest.mark.parametrize(
    ("pre", "words"),
    [
        ("refact", ["see", " HTTPResponse", "'s", " ", "1", "2", "3", "4", "\n\n"]),
        ("dbrx", ["see", " HTTPResponse", "'s", " ", "123", "4", "\n\n"]),
        ("smaug-bpe", ["see", " HTTPResponse", "'s", " ", "123", "4", "\n\n"]),
        ("llama4", ["see", " HTTPResponse's", " ", "123", "4", "\n\n"]),
        ("tekken", ["see", " HTTPResponse", "'s", " ", "1", "2", "3", "4", "\n\n"]),
        ("deepseek-v3", ["see", " HTTPResponse", "'s", " ", "123", "4", "\n\n"]),
        ("deepseek-llm", ["see", " HTTPResponse", "'", "s", " ", "1", "2", "3", "4", "\n", "\n"]),
    ],
)
def test_named_splitting_rule_gives_these_words(pre, words):
    text = "see HTTPResponse's 1234\n\n"
    split = _reading(pre).words.pre_tokenize_str(text)
    assert [text[begin:end] for _, (begin, end) in split] == words


@pytest.mark.parametrize(
    ("pre", "words"),
    [
        ("deepseek-v3", "naïve| Ωmega|東京の本| x|=[|a|];|\U0001d400b| \n"),
        # Its rule for signs has small letters too, which ends words at others.
        ("deepseek-llm", "na|ï|ve| Ω|mega|東京の本| x|=[|a|];|\U0001d400|b| |\n"),
    ],
)
def test_splitting_rules_of_deepseek_are_taken_one_after_another(pre, words):
    text = words.replace("|", "")
    split = _reading(pre).words.pre_tokenize_str(text)
    assert [text[begin:end] for _, (begin, end) in split] == words.split("|")


def test_llama3_begins_with_bos_when_the_file_does_not_say(llama3, qwen2, vocabulary):
    bos = vocabulary.ids[BEGIN]
    assert llama3.encode("a")[0] == bos
    assert qwen2.encode("a")[0] != bos


def test_entries_outside_the_byte_alphabet_stand_for_their_text(llama3, vocabulary):
    begin, end, outside = (vocabulary.ids[token] for token in (BEGIN, END, OUTSIDE))
    assert llama3.encode(f"{BEGIN}a{END}", add_special_tokens=False) == [
        begin,
        *llama3.encode("a", add_special_tokens=False),
        end,
    ]
    assert llama3.is_special(begin)
    assert llama3.token_bytes(begin) == BEGIN.encode()
    assert llama3.token_bytes(outside) == OUTSIDE.encode()
    assert not llama3.is_special(outside)


def test_vocabulary_without_merges_is_refused_by_name(vocabulary, tmp_path):
    path = write(tmp_path / "vocabulary.gguf", vocabulary, "qwen2", merges=False)
    with pytest.raises(ModelLoadError, match=r"no tokenizer\.ggml\.merges"):
        load_text(str(path))


def test_merge_of_an_unknown_token_is_refused_by_name(vocabulary, tmp_path):
    broken = Vocabulary(vocabulary.tokens, [*vocabulary.merges, ("Ġ", "no such token")])
    path = write(tmp_path / "vocabulary.gguf", broken, "qwen2")
    with pytest.raises(ModelLoadError, match="merges"):
        load_text(str(path))
