"""Sound in MP4, M4A, WebM, Matroska and MPEG program streams, by FFmpeg's libraries (PyAV).

Only in the decoder's own process (decoder.py), within its limits. The format is told by the first
bytes and no other is tried; only decoders of sound are ever opened, also while FFmpeg looks at what
a file holds; and a file cannot name another one.
"""

import io
from typing import IO, Any

from voice.audio import RATE, check_form
from voice.errors import VoiceError, too_long, unreadable

_CODECS = ("aac", "alac", "mp3", "mp3float", "mp2", "mp2float", "opus", "libopus", "vorbis", "flac")
_MAX_STREAMS = 8
_PROBED_BYTES = 1 << 20


def container_of(data: bytes) -> str | None:
    """FFmpeg's name of the format that `data` begins as; None where another library reads it."""
    if data[4:8] == b"ftyp":
        return "mp4"
    if data[:4] == b"\x1a\x45\xdf\xa3":  # EBML
        return "matroska"
    if data[:4] == b"\0\0\1\xba":
        return "mpeg"
    return None


def decode_container(data: bytes, form: str, max_s: int) -> bytes:
    """The first track of sound in `data`, as 16-bit PCM of one channel at `RATE`.

    Raises:
        VoiceError: it has none, is damaged or too long, or this server reads no such files.
    """
    try:
        import av
    except ImportError:
        raise unreadable("this server was installed without MP4, WebM and MPEG") from None
    try:
        with av.open(
            io.BytesIO(data),
            format=form,
            io_open=_refuse_other_files,
            metadata_errors="replace",
            options={
                "codec_whitelist": ",".join(_CODECS),
                "max_streams": str(_MAX_STREAMS),
                "probesize": str(_PROBED_BYTES),
            },
        ) as container:
            return _pcm(container, max_s)
    except VoiceError:
        raise
    # By FFmpeg's number PyAV raises errors of its own, or Python's.
    except (av.FFmpegError, OSError, ValueError, EOFError, RuntimeError, OverflowError):
        raise unreadable("it is damaged") from None


def _pcm(container: Any, max_s: int) -> bytes:
    import av

    stream = next(iter(container.streams.audio), None)
    if stream is None:
        raise unreadable("it holds no sound")
    if stream.codec_context is None or stream.codec_context.name not in _CODECS:
        raise unreadable("its sound is compressed in a way that is not known here")
    check_form(stream.channels, stream.rate)
    stream.codec_context.thread_count = 1
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    pcm = bytearray()
    for frame in container.decode(stream):
        for block in resampler.resample(frame):
            pcm += bytes(block.planes[0])[: 2 * block.samples]
        if len(pcm) > 2 * RATE * max_s:
            raise too_long(max_s)
    for block in resampler.resample(None):
        pcm += bytes(block.planes[0])[: 2 * block.samples]
    return bytes(pcm)


def _refuse_other_files(url: str, flags: int, options: dict[str, str]) -> IO[bytes]:
    raise OSError(f"{url[:100]!r} is another file.")
