"""A voice server with models of a few lines: `python -m tests.support.tiny_voice PORT`.

All of the server is the real one (doors, decoder, resampling, encoders, sentences, windows, turns);
only what a network computes is not: what is heard is how long it was and how high, and a sentence
is a tone as long as it has characters.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import uvicorn

from voice.heard import Segment, Task, Window, Word
from voice.models import Models, OnDemand
from voice.resample import Samples
from voice.server import create_app
from voice.weights import PIPER, WHISPER, Weights

CHARACTER_S = 0.05
RATE = 24_000
TONE_HZ = 220


class TinyWhisper:
    """Hears a tone: `2 s of 440 Hz`, or in English `English, 2 s of 440 Hz`."""

    def knows(self, language: str) -> bool:
        return language in {"en", "de"}

    def language_of(self, samples: Samples) -> str:
        return "en"

    def tokens_of(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def hear(self, samples: Samples, task: Task, before: Sequence[int]) -> Window:
        loud = np.flatnonzero(np.abs(samples) > 0.01)
        first, last = int(loud[0]), int(loud[-1]) + 1
        spectrum = np.abs(np.fft.rfft(samples[first:last]))
        hertz = 10 * round(int(spectrum.argmax()) * 16_000 / (last - first) / 10)
        text = f" {round((last - first) / 16_000)} s of {hertz} Hz."
        if task.translates:
            text = f" English,{text}"
        begin, end = round(first / 16_000, 2), round(last / 16_000, 2)
        words = (Word(text.strip(), begin, end),) if task.wants_words else ()
        prompted = "".join(map(chr, before[:40])) if before else ""
        text += f" After {prompted!r}." if task.prompt and prompted else ""
        heard = Segment(begin, end, text, (1, 2), 0.0, -0.1, 1.0, 0.0, words)
        return Window([heard], len(samples))


class TinyDetector:
    def first_voice(self, samples: Samples) -> int | None:
        loud = np.flatnonzero(np.abs(samples) > 0.01)
        return int(loud[0]) if len(loud) else None


class TinySpeaker:
    def say(self, sentence: str, *, speed: float) -> Samples:
        times = np.arange(round(RATE * CHARACTER_S * len(sentence) / speed)) / RATE
        return (0.5 * np.sin(2 * np.pi * TONE_HZ * times)).astype(np.float32)


def tiny_models() -> Models:
    nowhere = Path()
    heard = OnDemand(
        Weights(WHISPER.id, "", "", ()),
        nowhere,
        lambda _: (TinyWhisper(), TinyDetector()),
        idle_s=1,
    )
    said = OnDemand(Weights(PIPER.id, "", "", ()), nowhere, lambda _: TinySpeaker(), idle_s=1)
    return Models(heard, said)


if __name__ == "__main__":
    app = create_app(tiny_models(), key=os.environ["PARLEY_VOICE_API_KEY"])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
