"""Whisper on CTranslate2: thirty seconds of sound as text with times.

The rules (timestamps, fallback to higher temperatures, silence) are those of OpenAI's own code.
Source: Radford et al. 2022, 4.5; https://github.com/openai/whisper
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ctranslate2
import numpy as np
from tokenizers import Tokenizer

from voice.features import RATE, WINDOW, WINDOW_S, log_mel
from voice.heard import Segment, Task, Window, Word
from voice.resample import Samples

TIMESTAMP_S = 0.02
_MAX_TOKENS = 448
_MAX_PROMPT = 223
_FALLBACKS = (0.4, 0.8)
_MIN_LOGPROB, _MAX_COMPRESSION, _MAX_NO_SPEECH = -1.0, 2.4, 0.6
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "my", "yue"})


@dataclass(frozen=True, slots=True)
class _Attempt:
    tokens: list[int]
    text: str
    temperature: float
    avg_logprob: float
    no_speech_prob: float

    @property
    def compression_ratio(self) -> float:
        said = self.text.encode()
        return len(said) / len(zlib.compress(said)) if said else 0.0

    @property
    def is_good(self) -> bool:
        return self.is_silence or (
            self.avg_logprob >= _MIN_LOGPROB and self.compression_ratio <= _MAX_COMPRESSION
        )

    @property
    def is_silence(self) -> bool:
        return self.no_speech_prob > _MAX_NO_SPEECH and self.avg_logprob < _MIN_LOGPROB


class Whisper:
    """A model of Whisper's family.

    Args:
        directory: holds `model.bin`, `config.json`, `tokenizer.json` and `vocabulary.json`.
    """

    def __init__(self, directory: Path, *, threads: int) -> None:
        self._model = ctranslate2.models.Whisper(
            str(directory), device="cpu", compute_type="int8", intra_threads=threads
        )
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._begin_s = self._token("<|notimestamps|>") + 1
        self._end = self._token("<|endoftext|>")

    def knows(self, language: str) -> bool:
        return self._tokenizer.token_to_id(f"<|{language}|>") is not None and len(language) <= 3

    def language_of(self, samples: Samples) -> str:
        """The language that is spoken in a window."""
        [found] = self._model.detect_language(self._encoded(samples))
        return str(found[0][0]).strip("<|>")

    def hear(self, samples: Samples, task: Task, before: Sequence[int]) -> Window:
        """The text of a window.

        Args:
            samples: at most `WINDOW` of them.
            task: with its language.
            before: the tokens of what was said before it.
        """
        encoded = self._encoded(samples)
        start = [
            self._token("<|startoftranscript|>"),
            self._token(f"<|{task.language}|>"),
            self._token("<|translate|>" if task.translates else "<|transcribe|>"),
        ]
        said = before[-_MAX_PROMPT:]
        prompt = [self._token("<|startofprev|>"), *said, *start] if said else start
        attempt = self._best(encoded, prompt, task.temperature)
        if attempt.is_silence:
            return Window([], len(samples))
        seconds = len(samples) / RATE
        slices, used_s = _sliced(attempt.tokens, self._begin_s, seconds)
        segments = []
        for begin, end, tokens in slices:
            text = self._text(tokens)
            if not text.strip():
                continue
            segments.append(
                Segment(
                    start=begin,
                    end=min(end, seconds),
                    text=text,
                    tokens=tuple(tokens),
                    temperature=attempt.temperature,
                    avg_logprob=attempt.avg_logprob,
                    compression_ratio=attempt.compression_ratio,
                    no_speech_prob=attempt.no_speech_prob,
                )
            )
        if task.wants_words and segments:
            segments = self._with_words(encoded, start, segments, len(samples), task.language)
        return Window(segments, min(len(samples), max(RATE, round(used_s * RATE))))

    def tokens_of(self, text: str) -> list[int]:
        """Of a prompt."""
        return list(self._tokenizer.encode(" " + text.strip(), add_special_tokens=False).ids)

    def _best(
        self, encoded: ctranslate2.StorageView, prompt: list[int], temperature: float
    ) -> _Attempt:
        attempt = self._attempt(encoded, prompt, temperature)
        for warmer in _FALLBACKS:
            if attempt.is_good:
                break
            if warmer > temperature:
                attempt = self._attempt(encoded, prompt, warmer)
        return attempt

    def _attempt(
        self, encoded: ctranslate2.StorageView, prompt: list[int], temperature: float
    ) -> _Attempt:
        how = (
            {"beam_size": 1, "sampling_topk": 0, "sampling_temperature": temperature}
            if temperature > 0
            else {"beam_size": 5}
        )
        [result] = self._model.generate(
            encoded,
            [prompt],
            max_length=_MAX_TOKENS,
            return_scores=True,
            return_no_speech_prob=True,
            max_initial_timestamp_index=50,
            **how,
        )
        tokens = list(result.sequences_ids[0])
        text = self._text([token for token in tokens if token < self._end])
        return _Attempt(tokens, text, temperature, result.scores[0], result.no_speech_prob)

    def _with_words(
        self,
        encoded: ctranslate2.StorageView,
        start: list[int],
        segments: list[Segment],
        samples: int,
        language: str,
    ) -> list[Segment]:
        """The segments with their words: which frame each token was heard in."""
        tokens = [token for segment in segments for token in segment.tokens]
        frames = samples // (RATE // 100)
        [aligned] = self._model.align(encoded, start, [tokens], [frames])
        heard: dict[int, float] = {}
        for number, frame in aligned.alignments:
            heard.setdefault(number, frame * TIMESTAMP_S)
        found, number = [], 0
        for segment in segments:
            words = []
            for text, count in self._words(segment.tokens, language):
                begin = heard.get(number, segment.start)
                number += count
                end = heard.get(number, segment.end)
                words.append(Word(text, round(begin, 2), round(max(begin, end), 2)))
            values = {name: getattr(segment, name) for name in segment.__slots__}
            found.append(Segment(**{**values, "words": tuple(words)}))
        return found

    def _words(self, tokens: Sequence[int], language: str) -> Iterator[tuple[str, int]]:
        """Each word and how many tokens it has; where no spaces are written, each character."""
        word: list[int] = []
        for position, token in enumerate(tokens):
            word.append(token)
            if "\ufffd" in self._text(word):
                continue  # half a character
            after = self._text(tokens[position + 1 : position + 2])
            if not after or after.startswith(" ") or language in _WITHOUT_SPACES:
                yield self._text(word).strip(), len(word)
                word = []
        if word:
            yield self._text(word).strip(), len(word)

    def _encoded(self, samples: Samples) -> ctranslate2.StorageView:
        features = np.expand_dims(log_mel(samples[:WINDOW]), 0)
        return self._model.encode(ctranslate2.StorageView.from_array(features))

    def _text(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def _token(self, name: str) -> int:
        found = self._tokenizer.token_to_id(name)
        if found is None:
            raise ValueError(f"the tokenizer has no {name}")
        return int(found)


def _sliced(
    tokens: list[int], begin_s: int, seconds: float
) -> tuple[list[tuple[float, float, list[int]]], float]:
    """Start, end and tokens of each segment, and how many seconds are used up.

    Two timestamps in a row end one segment and begin the next; what stands after the last pair is
    heard again with the next window, unless one timestamp alone ends it.
    """

    def at(token: int) -> float:
        return (token - begin_s) * TIMESTAMP_S

    stamps = [token >= begin_s for token in tokens]
    ends_alone = stamps[-2:] == [False, True]
    cuts = [n for n in range(1, len(tokens)) if stamps[n] and stamps[n - 1]]
    if not cuts:
        times = [at(token) for token, is_stamp in zip(tokens, stamps, strict=True) if is_stamp]
        words = [token for token, is_stamp in zip(tokens, stamps, strict=True) if not is_stamp]
        first = times[0] if stamps[:1] == [True] else 0.0
        last = times[-1] if len(times) > 1 and times[-1] > first else seconds
        return [(first, last, words)], WINDOW_S
    if ends_alone:
        cuts.append(len(tokens))
    slices, begin, end = [], 0, 0.0
    for cut in cuts:
        part = tokens[begin:cut]
        begin = cut
        if len(part) < 2:
            continue
        end = at(part[-1]) if part[-1] >= begin_s else seconds
        first = at(part[0]) if part[0] >= begin_s else 0.0
        slices.append((first, end, [token for token in part if token < begin_s]))
    return slices, WINDOW_S if ends_alone else end
