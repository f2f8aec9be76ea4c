"""The bodies of `/v1/audio/…`. A recording comes as a form, so its fields are texts at first."""

from typing import Annotated, ClassVar, Literal

from ninja import Schema
from pydantic import ConfigDict, Field, StringConstraints

from backend.api.schemas.base import ModelName, RequestModel
from backend.generation.voice import MAX_SPOKEN_CHARACTERS

TranscriptFormat = Literal["json", "text", "srt", "verbose_json", "vtt"]
SpeechFormat = Literal["mp3", "opus", "flac", "wav", "pcm"]
_Text = Annotated[str, StringConstraints(max_length=4_000)]
_Language = Annotated[str, StringConstraints(max_length=16, pattern=r"^[A-Za-z-]*$")]


class TranslationForm(Schema):
    """Beside the file. `refused`: fields that OpenAI publishes and this server does not honour."""

    model_config = ConfigDict(extra="ignore")
    refused: ClassVar[dict[str, str]] = {}

    model: ModelName
    prompt: _Text = ""
    response_format: TranscriptFormat = "json"
    temperature: float = Field(default=0.0, ge=0, le=1)


class TranscriptionForm(TranslationForm):
    refused: ClassVar[dict[str, str]] = {
        "chunking_strategy": "it is found out where somebody speaks",
        "include": "no likelihoods are told",
        "keywords": "a prompt can hold them",
        "known_speaker_names": "speakers are not told apart",
        "known_speaker_references": "speakers are not told apart",
        "languages": "a recording has one",
    }

    language: _Language = ""
    stream: bool = False
    timestamp_granularities: list[Literal["word", "segment"]] = Field(
        default_factory=list, alias="timestamp_granularities[]", max_length=2
    )


class SpeechCreate(RequestModel):
    """A text to be spoken."""

    refused: ClassVar[dict[str, str]] = {"instructions": "the voice takes none"}

    input: Annotated[str, StringConstraints(min_length=1, max_length=MAX_SPOKEN_CHARACTERS)]
    model: ModelName
    voice: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    response_format: SpeechFormat = "mp3"
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"
