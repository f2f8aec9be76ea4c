"""What is asked of a recording, and what is heard in it. Imports no model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a recording.

    Attributes:
        language: a code such as `en`; "" where it is to be found out.
        prompt: words that come before, or that the speaker may use.
    """

    translates: bool = False
    language: str = ""
    prompt: str = ""
    temperature: float = 0.0
    wants_words: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    word: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Segment:
    """Seconds count from the window's beginning, or after `moved` from the recording's."""

    start: float
    end: float
    text: str
    tokens: tuple[int, ...]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    words: tuple[Word, ...] = ()

    def moved(self, by: float, most: float) -> "Segment":
        """The same later, and no later than `most`."""

        def at(moment: float) -> float:
            return round(min(moment + by, most), 2)

        words = tuple(Word(w.word, at(w.start), at(w.end)) for w in self.words)
        values = {name: getattr(self, name) for name in self.__slots__}
        return Segment(**{**values, "start": at(self.start), "end": at(self.end), "words": words})


@dataclass(frozen=True, slots=True)
class Window:
    """What was heard in one window, and how many of its samples that used up."""

    segments: list[Segment]
    used: int
