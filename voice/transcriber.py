"""A whole recording as segments: window after window, from the first voice on.

Each window is a job of its own in the model's one thread, so that a short dictation does not wait
for a long recording.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from voice.errors import VoiceError
from voice.features import RATE, WINDOW
from voice.heard import Segment, Task
from voice.resample import Samples

if TYPE_CHECKING:
    from voice.activity import SpeechDetector
    from voice.whisper import Whisper

_LEAST = RATE // 10
"""Samples that may be a sound at all."""


class Transcriber:
    """
    Args:
        run: calls a function in the model's thread.
    """

    def __init__(
        self,
        whisper: "Whisper",
        detector: "SpeechDetector",
        run: Callable[..., Awaitable[Any]],
    ) -> None:
        self._whisper = whisper
        self._detector = detector
        self._run = run

    async def language_of(self, samples: Samples) -> str:
        """Of the first window in which somebody speaks; English where nobody does."""
        for start in range(0, len(samples), WINDOW):
            voice = await self._run(self._detector.first_voice, samples[start : start + WINDOW])
            if voice is not None:
                heard = samples[start + voice : start + voice + WINDOW]
                return str(await self._run(self._whisper.language_of, heard))
        return "en"

    def require_known(self, language: str) -> None:
        """Raises VoiceError: the model has no such language."""
        if not self._whisper.knows(language):
            raise VoiceError(
                f"The language {language!r} is not known; it is a code such as 'en'.",
                param="language",
            )

    async def segments(self, samples: Samples, task: Task) -> AsyncIterator[Segment]:
        """What is said, in order of time.

        Args:
            task: with its language, a known one.
        """
        before = self._whisper.tokens_of(task.prompt) if task.prompt else []
        position = 0
        while len(samples) - position >= _LEAST:
            window = samples[position : position + WINDOW]
            voice = await self._run(self._detector.first_voice, window)
            if voice is None:
                position += len(window)
                continue
            position += voice
            window = samples[position : position + WINDOW]
            heard = await self._run(self._whisper.hear, window, task, before)
            for segment in heard.segments:
                yield segment.moved(position / RATE, len(samples) / RATE)
                if segment.temperature <= 0.5:  # what was guessed is no context
                    before = [*before, *segment.tokens]
            position += heard.used
