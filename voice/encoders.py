"""Samples as bytes of a format, a part at a time, as they are made."""

import io
import struct
from typing import Any, Protocol

import numpy as np
import soundfile

from voice.errors import VoiceError
from voice.resample import Samples

RATE = 24_000
"""What OpenAI's `pcm` has."""
CONTENT_TYPES = {
    "wav": "audio/wav",
    "pcm": "audio/pcm",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "opus": "audio/ogg",
}
_UNKNOWN_LENGTH = 0xFFFFFFFF


class Encoder(Protocol):
    def add(self, samples: Samples) -> bytes:
        """What is ready after these samples."""
        ...

    def end(self) -> bytes:
        """What is left."""
        ...


def encoder_of(name: str) -> Encoder:
    """Raises VoiceError: the format is not written here."""
    if name == "pcm":
        return _Plain(b"")
    if name == "wav":
        return _Plain(_wav_head())
    if name in CONTENT_TYPES:
        return _Library(name)
    known = ", ".join(CONTENT_TYPES)
    raise VoiceError(
        f"The format {name[:40]!r} is not supported by this server; there are {known}.",
        param="response_format",
    )


def _pcm(samples: Samples) -> bytes:
    return bytes((samples * np.float32(32767)).astype("<i2").tobytes())


def _wav_head() -> bytes:
    """Of a file whose length is not known yet."""
    form = struct.pack("<IHHIIHH", 16, 1, 1, RATE, 2 * RATE, 2, 16)
    length = struct.pack("<I", _UNKNOWN_LENGTH)
    return b"RIFF" + length + b"WAVEfmt " + form + b"data" + length


class _Plain:
    """16-bit PCM, after `head`."""

    def __init__(self, head: bytes) -> None:
        self._head = head

    def add(self, samples: Samples) -> bytes:
        head, self._head = self._head, b""
        return head + _pcm(samples)

    def end(self) -> bytes:
        head, self._head = self._head, b""
        return head


class _Library:
    """By libsndfile. It writes the head again at the end; who reads a stream has had it by then. Of
    MP3 the head is a frame of its own, without sound, that decoders stumble over while it is empty:
    it is left out."""

    _FORMS: dict[str, tuple[str, str]] = {
        "mp3": ("MP3", "MPEG_LAYER_III"),
        "flac": ("FLAC", "PCM_16"),
        "opus": ("OGG", "OPUS"),
    }

    def __init__(self, name: str) -> None:
        form, subtype = self._FORMS[name]
        # Of one bitrate, since the head that would tell the length of others is not there.
        rate = {"bitrate_mode": "CONSTANT", "compression_level": 0.5} if name == "mp3" else {}
        self._written = io.BytesIO()
        self._given = 0
        self._has_head_frame = name == "mp3"
        self._file: Any = soundfile.SoundFile(
            self._written, "w", samplerate=RATE, channels=1, format=form, subtype=subtype, **rate
        )

    def add(self, samples: Samples) -> bytes:
        self._file.write(samples)
        return self._new()

    def end(self) -> bytes:
        self._file.close()
        return self._new()

    def _new(self) -> bytes:
        written = self._written.getvalue()
        if self._has_head_frame and len(written) >= 4:
            self._has_head_frame = False
            self._given = _mp3_frame_bytes(written)
        new = written[self._given :]
        self._given += len(new)
        return new


_MP3_KILOBITS = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
"""Of MPEG-2 layer III, which 24,000 samples a second are."""


def _mp3_frame_bytes(data: bytes) -> int:
    """The length of the frame that `data` begins with."""
    kilobits, padded = _MP3_KILOBITS[data[2] >> 4], data[2] >> 1 & 1
    return 72 * kilobits * 1000 // RATE + padded
