"""`python -m voice.decoder SECONDS`: a file on stdin, 16,000 samples a second of PCM on stdout.

WAV, FLAC, Ogg (Vorbis, Opus), MP3 and AIFF, by libsndfile; MP4 and WebM by FFmpeg. It runs
within limits of memory and processor time that it sets for itself, so a file that lies about its
size ends this process alone.
Exit status 3: the last line on stderr says what is wrong with the file.
"""

import io
import resource
import sys

MEMORY_BYTES = 1_500_000_000
CPU_S = 50
FORMATS = "WAV, FLAC, Ogg, MP3, MP4 (M4A), WebM, MPEG and AIFF"


def main(arguments: list[str]) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    from voice.errors import VoiceError

    try:
        sys.stdout.buffer.write(pcm_of(sys.stdin.buffer.read(), int(arguments[0])))
    except VoiceError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 3
    return 0


def pcm_of(data: bytes, max_s: int) -> bytes:
    """Raises VoiceError: it is damaged, too long or of no known format."""
    from voice.containers import container_of, decode_container

    form = container_of(data)
    if form is not None:
        return decode_container(data, form, max_s)
    return _pcm_of_file(data, max_s)


def _pcm_of_file(data: bytes, max_s: int) -> bytes:
    import numpy as np
    import soundfile

    from voice.audio import RATE, check_form
    from voice.errors import too_long, unreadable
    from voice.resample import resample

    class Once(soundfile.SoundFile):
        """Read from its beginning to its end. Else soundfile seeks to where each part has ended,
        which fails at the end of a stream whose head does not tell its length (FLAC)."""

        def seekable(self) -> bool:
            return False

    try:
        file = Once(io.BytesIO(data))
    except soundfile.SoundFileError:
        raise unreadable(f"the formats are {FORMATS}") from None
    check_form(file.channels, file.samplerate)
    found, frames = [], 0
    try:
        while len(block := file.read(1 << 16, dtype="float32", always_2d=True)):
            frames += len(block)
            if frames > max_s * file.samplerate:
                raise too_long(max_s)
            found.append(block.mean(axis=1))
    except soundfile.SoundFileError:
        raise unreadable("it is damaged") from None
    samples = np.concatenate(found) if found else np.zeros(0, np.float32)
    pcm = np.clip(np.nan_to_num(resample(samples, file.samplerate, RATE)), -1, 1) * 32767
    return pcm.astype("<i2").tobytes()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
