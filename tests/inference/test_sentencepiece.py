"""SentencePiece vocabularies in GGUF files give SentencePiece's own tokens.

A small BPE model is trained the way Llama 2's was (bytes for what is rare, no normalization).
"""

from __future__ import annotations

import io
from pathlib import Path

import gguf
import pytest
import sentencepiece
import transformers
from gguf.constants import GGMLQuantizationType as Kind
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.errors import ModelLoadError
from inference.model.gguf_format import GGUFFile
from inference.text.detokenizer import StreamingDetokenizer
from inference.text.load import load_text
from inference.text.tokenizer import TextTokenizer
from tests.inference.conftest import greedy
from tests.inference.test_families import make_driver
from tests.inference.test_gguf_formats import PROMPT, write_model

TRAINED_ON = Path("inference/bench/perplexity_text.txt")
TEXTS = [
    "The engine reads a page, and then the next one.",
    "  leading,   several    and trailing spaces  ",
    "line\nbreaks\n\n\tand tabs",
    "aaaaaaaaaa bananananas mississippi",
    "Grüße, naïve café — 東京 🙂 \u0000\u00a0",
    "x",
    "",
    " ",
    "1234567890 3.14 don't",
]


@pytest.fixture(scope="module")
def trained() -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINED_ON.read_text().splitlines()),
        model_writer=model,
        vocab_size=600,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        user_defined_symbols=["<think>"],
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def add_vocabulary(writer: gguf.GGUFWriter, trained: sentencepiece.SentencePieceProcessor) -> None:
    """As llama.cpp's converter writes it."""

    def kind(i: int) -> gguf.TokenType:
        if trained.is_unknown(i):
            return gguf.TokenType.UNKNOWN
        if trained.is_control(i):
            return gguf.TokenType.CONTROL
        if trained.is_byte(i):
            return gguf.TokenType.BYTE
        if trained.id_to_piece(i) == "<think>":
            return gguf.TokenType.USER_DEFINED
        return gguf.TokenType.NORMAL

    ids = range(trained.vocab_size())
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_scores([trained.get_score(i) for i in ids])
    writer.add_token_types([kind(i) for i in ids])
    writer.add_bos_token_id(trained.bos_id())
    writer.add_eos_token_id(trained.eos_id())
    writer.add_unk_token_id(trained.unk_id())


@pytest.fixture(scope="module")
def path(trained, tmp_path_factory) -> Path:
    """A whole model, with as many embeddings as there are pieces."""
    path = tmp_path_factory.mktemp("llama2") / "tiny.gguf"
    write_model(
        path,
        Kind.F32,
        lambda writer: add_vocabulary(writer, trained),
        vocab=trained.vocab_size(),
        tokens=[trained.id_to_piece(i) for i in range(trained.vocab_size())],
    )
    return path


@pytest.fixture(scope="module")
def tokenizer(path) -> TextTokenizer:
    return load_text(str(path))[0]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_equal_sentencepieces(trained, tokenizer, text):
    assert tokenizer.encode(text, add_special_tokens=False) == trained.encode(text)
    assert tokenizer.encode(text) == [trained.bos_id(), *trained.encode(text)]


@given(text=st.text(st.sampled_from("aenrst ,.\nTh▁é東\x00") | st.characters(codec="utf-8")))
@settings(max_examples=80)
def test_any_text_gives_sentencepieces_tokens_and_decodes_to_itself(trained, tokenizer, text):
    tokens = tokenizer.encode(text, add_special_tokens=False)
    assert tokens == trained.encode(text)
    if "▁" not in text:  # which stands for a space here
        assert tokenizer.decode_prompt(tokens) == text


def test_tokens_equal_transformers_reading_the_file(path, tokenizer):
    """But for texts that begin with a space, to which transformers adds none."""
    theirs = transformers.AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    for text in TEXTS:
        if not text.startswith(" "):
            assert tokenizer.encode(text, add_special_tokens=False) == theirs.encode(
                text, add_special_tokens=False
            )


def test_special_tokens_are_whole_and_text_after_them_begins_a_word(trained, tokenizer):
    tokens = tokenizer.encode("one</s>two<think>three", add_special_tokens=False)
    assert tokens == [
        *trained.encode("one"),
        trained.eos_id(),
        *trained.encode("two"),
        trained.piece_to_id("<think>"),
        *trained.encode("three"),
    ]
    assert tokenizer.is_special(trained.eos_id())
    assert not tokenizer.is_special(trained.piece_to_id("<think>"))


def test_tokens_decode_to_their_bytes(trained, tokenizer):
    """東 has no piece: three bytes, of which none is shown before the last has come."""
    tokens = tokenizer.encode("a 東", add_special_tokens=False)
    assert b"".join(map(tokenizer.token_bytes, tokens)) == " a 東".encode()
    detokenizer = StreamingDetokenizer(tokenizer)
    assert "".join(detokenizer.feed(token) for token in tokens) == " a 東"


def test_model_with_a_sentencepiece_vocabulary_answers(path, tokenizer):
    driver = make_driver(path)
    answer = driver.generate(PROMPT, greedy(max_tokens=5, ignore_eos=True))
    assert len(answer) == 5
    assert driver.core.runner.vocab_size == tokenizer.vocab_size


def test_another_kind_of_vocabulary_is_refused_by_name(tmp_path, trained):
    path = tmp_path / "other.gguf"
    write_model(path, Kind.F32, lambda writer: writer.add_tokenizer_model("t5"))
    assert GGUFFile(path).metadata["tokenizer.ggml.model"] == "t5"
    with pytest.raises(ModelLoadError, match="'t5' is not implemented"):
        load_text(str(path))
