"""Bytes that somebody sent, as 16,000 samples a second.

Plain PCM in a WAV file is read here, by a few lines that can go wrong in no other way than by
saying so. Everything else goes to a decoder in a process of its own (decoder.py): it is a C library
that reads what strangers have made, so it has little memory, little time and no other work.
"""

import asyncio
import os
import struct
import sys

import numpy as np

from voice.errors import VoiceError, too_long, unreadable
from voice.resample import Samples, resample

RATE = 16_000
MAX_BYTES = 25 * 1024 * 1024
MIN_RATE, MAX_RATE = 4_000, 48_000
DECODER_S = 60
_MAX_CHANNELS = 8
_PCM, _EXTENSIBLE = 1, 0xFFFE


async def decode(data: bytes, *, max_s: int) -> Samples:
    """The recording in `data`, one channel, 16,000 samples a second.

    Raises:
        VoiceError: it is empty, too long, or of no known format.
    """
    if not data:
        raise unreadable("it is empty")
    if len(data) > MAX_BYTES:
        raise VoiceError(f"The file is larger than {MAX_BYTES} bytes.", param="file", status=413)
    samples = await asyncio.to_thread(plain_wav, data, max_s)
    if samples is None:
        samples = await _decoded_outside(data, max_s)
    if not len(samples):
        raise unreadable("it holds no sound")
    return samples


def plain_wav(data: bytes, max_s: int) -> Samples | None:
    """16-bit PCM in a RIFF file; None where it is something else.

    Raises:
        VoiceError: it says that it is, and is broken or too long.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return None
    form: tuple[int, int, int] | None = None
    position = 12
    while position + 8 <= len(data):
        name, size = (
            data[position : position + 4],
            int.from_bytes(data[position + 4 :][:4], "little"),
        )
        body = position + 8
        if name == b"fmt ":
            form = _format(data[body : body + size])
            if form is None:
                return None
        elif name == b"data":
            if form is None:
                raise unreadable("its samples come before their format")
            return _samples(data[body : body + size], form, max_s)
        position = body + size + size % 2
    raise unreadable("it holds no samples")


def _format(chunk: bytes) -> tuple[int, int, int] | None:
    """Channels, rate and bits of PCM; None of anything else."""
    if len(chunk) < 16:
        raise unreadable("its format is cut short")
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", chunk[:16])
    if kind == _EXTENSIBLE and len(chunk) >= 26:
        kind = int.from_bytes(chunk[24:26], "little")
    if kind != _PCM or bits != 16:
        return None
    check_form(channels, rate)
    return channels, rate, bits


def check_form(channels: int, rate: int) -> None:
    if not 1 <= channels <= _MAX_CHANNELS:
        raise unreadable(f"{channels} channels; there may be 1 to {_MAX_CHANNELS}")
    if not MIN_RATE <= rate <= MAX_RATE:
        raise unreadable(f"{rate} samples a second; there may be {MIN_RATE} to {MAX_RATE}")


def _samples(data: bytes, form: tuple[int, int, int], max_s: int) -> Samples:
    channels, rate, _ = form
    frames = len(data) // (2 * channels)
    if frames > max_s * rate:
        raise too_long(max_s)
    raw = np.frombuffer(data, "<i2", count=frames * channels).reshape(frames, channels)
    return resample(raw.mean(axis=1, dtype=np.float32) / np.float32(32768), rate, RATE)


async def _decoded_outside(data: bytes, max_s: int) -> Samples:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "voice.decoder",
        str(max_s),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Nothing of ours: no key, no address.
        env={"PATH": os.environ.get("PATH", ""), "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        async with asyncio.timeout(DECODER_S):
            decoded, said = await process.communicate(data)
    except TimeoutError:
        raise unreadable(f"it took more than {DECODER_S} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return np.frombuffer(decoded, "<i2").astype(np.float32) / np.float32(32768)
    words = said.decode(errors="replace").strip().splitlines()
    if process.returncode == 3 and words:
        raise VoiceError(words[-1], param="file")
    raise unreadable("its decoder failed, or needed more memory or time than it may have")
