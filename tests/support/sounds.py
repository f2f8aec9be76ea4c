"""Recordings for tests, made of numbers."""

import io
import random
import struct
from collections.abc import Iterator
from math import sin, tau
from typing import Any

import av
import numpy
import soundfile

# Names of files that OpenAI takes, and what their sound is compressed by.
LIBSNDFILE = {"a.flac": "FLAC", "a.ogg": "OGG", "a.mp3": "MP3"}
FFMPEG = {
    "a.mp4": ("mp4", "aac"),
    "a.m4a": ("ipod", "alac"),
    "a.webm": ("webm", "libopus"),
    "a.mpeg": ("mpeg", "mp2"),
}


def tone(seconds: float, hertz: float = 440, *, rate: int = 16_000, silence_s: float = 0) -> bytes:
    """A WAV file: silence, then a tone; 16-bit PCM, one channel."""
    quiet = [0] * round(silence_s * rate)
    loud = [round(12_000 * sin(tau * hertz * n / rate)) for n in range(round(seconds * rate))]
    return wav(struct.pack(f"<{len(quiet) + len(loud)}h", *quiet, *loud), rate=rate)


def wav(samples: bytes, *, rate: int = 16_000, channels: int = 1, bits: int = 16) -> bytes:
    """`samples` as a RIFF file that says so of them."""
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * block, block, bits)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(samples))
    return b"RIFF" + struct.pack("<I", len(body) + len(samples)) + body + samples


def packed(recording: bytes, name: str, *, with_video: bool = False) -> bytes:
    """A WAV file's sound as a file of the kind that `name` ends with."""
    samples, rate = soundfile.read(io.BytesIO(recording), dtype="int16")
    file = io.BytesIO()
    if name in LIBSNDFILE:
        soundfile.write(file, samples, rate, format=LIBSNDFILE[name])
        return file.getvalue()
    form, codec = FFMPEG[name]
    with av.open(file, "w", format=form) as container:
        video = container.add_stream("mpeg4", rate=5) if with_video else None
        # Opus knows few rates.
        coded_rate = 48_000 if codec == "libopus" else rate
        sound: Any = container.add_stream(codec, rate=coded_rate, layout="mono")
        if video is not None:
            video.width = video.height = 64
            black = av.VideoFrame.from_ndarray(numpy.zeros((64, 64, 3), "uint8"), format="rgb24")
            for _ in range(5):
                container.mux(video.encode(black))
            container.mux(video.encode())
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts = rate, 0
        container.mux(sound.encode(frame))
        container.mux(sound.encode())
    return file.getvalue()


def damaged(data: bytes, *, seed: int, count: int) -> Iterator[bytes]:
    """`data` cut short, with bytes changed, with a part twice or left out: always the same ones."""
    chosen = random.Random(seed)
    for _ in range(count):
        broken = bytearray(data)
        kind = chosen.randrange(4)
        at = chosen.randrange(8, len(broken))
        if kind == 0:
            del broken[at:]
        elif kind == 1:
            for _ in range(chosen.choice((1, 8, 64))):
                broken[chosen.randrange(4, len(broken))] = chosen.randrange(256)
        elif kind == 2:
            broken[at:at] = broken[at // 2 : at]
        else:
            broken[at : at + 4] = chosen.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"))
        yield bytes(broken)
