"""Damaged recordings of each format: sound, or an error that names the file; never anything else.

The decoder of the voice server itself is asked, in a process with its limits. All at one start: a
start for each, as the server does it, is what tests/contract/test_audio.py tries.
"""

import asyncio
import os
import subprocess
import sys

import pytest

from tests.support.sounds import FFMPEG, LIBSNDFILE, damaged, packed, tone
from voice.audio import decode

COUNT = int(os.environ.get("PARLEY_FUZZ_EXAMPLES", "25"))
MAX_S = 5
NAMES = [*LIBSNDFILE, *FFMPEG]

# Each recording is preceded by its length; each answer is a line.
_DECODE_ALL = """
import resource, sys
from voice.decoder import CPU_S, MEMORY_BYTES, pcm_of
from voice.errors import VoiceError
resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
while size := sys.stdin.buffer.read(8):
    data = sys.stdin.buffer.read(int(size))
    try:
        print("sound", len(pcm_of(data, int(sys.argv[1]))) // 2)
    except VoiceError as error:
        print("refused", error.status, error.param, error)
"""


def answers_of(recordings: list[bytes]) -> list[str]:
    framed = b"".join(b"%8d" % len(one) + one for one in recordings)
    done = subprocess.run(
        [sys.executable, "-c", _DECODE_ALL, str(MAX_S)],
        input=framed,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode().splitlines()


@pytest.fixture(scope="module")
def answers_by_name() -> dict[str, list[str]]:
    """Of each format one that is whole, and those that are damaged."""
    sound = tone(1.0)
    wholes = {name: packed(sound, name) for name in NAMES}
    recordings = [
        recording
        for name, whole in wholes.items()
        for recording in (whole, *damaged(whole, seed=len(name), count=COUNT))
    ]
    answers = answers_of(recordings)
    assert len(answers) == len(recordings)
    return {name: answers[n * (COUNT + 1) :][: COUNT + 1] for n, name in enumerate(wholes)}


@pytest.mark.parametrize("name", NAMES)
def test_damaged_recording_is_heard_or_refused(
    answers_by_name: dict[str, list[str]], name: str
) -> None:
    first, *answers = answers_by_name[name]
    kind, samples = first.split()
    # Some formats add silence to what they compress.
    assert kind == "sound" and 15_000 < int(samples) < 21_000
    assert len(answers) == COUNT
    for answer in answers:
        kind, *rest = answer.split()
        assert kind in ("sound", "refused"), answer
        if kind == "refused":
            assert rest[:2] == ["400", "file"], answer
        else:
            assert int(rest[0]) <= MAX_S * 16_000
    assert any(answer.startswith("refused") for answer in answers), answers


def test_sound_of_a_video_is_heard() -> None:
    samples = asyncio.run(decode(packed(tone(1.0), "a.mp4", with_video=True), max_s=MAX_S))
    assert 15_000 < len(samples) < 21_000
    assert float(abs(samples).max()) > 0.2
