"""What Piper speaks, Whisper understands: `make test-voice`.

Not in the usual run: packages and weights are 300 MB, and a run costs 25 s of processor time.
"""

import re

import pytest

from tests.support.voice import MODELS, REAL

pytestmark = pytest.mark.skipif(not REAL, reason="needs the voice models: make test-voice")

SENTENCES = (
    "The quick brown fox jumps over the lazy dog.",
    "Dr. Smith paid $12.50 on March 3rd, 2024; was it too much?",
    "I read forty two books, and the bird in the garden sang better than ours.",
    "Please remember to call the doctor before nine o'clock tomorrow morning.",
    "PostgreSQL stores the usage records; Kafka only carries them.",
)


def words(text: str) -> list[str]:
    said = re.findall(r"[a-z0-9$.']+", text.lower().replace("forty two", "42").replace("9", "nine"))
    return [word.strip(".'") for word in said]


async def test_speech_of_one_model_is_understood_by_the_other():
    from voice.heard import Task
    from voice.models import fetched_models
    from voice.resample import resample
    from voice.transcriber import Transcriber

    models = fetched_models(MODELS, threads=2, idle_s=600)
    right = total = 0
    async with models.speaker.in_use() as speaker, models.whisper.in_use() as (whisper, detector):
        transcriber = Transcriber(whisper, detector, models.whisper.run)
        for sentence in SENTENCES:
            spoken = resample(speaker.say(sentence, speed=1.0), 24_000, 16_000)
            assert await transcriber.language_of(spoken) == "en"
            heard = [one.text async for one in transcriber.segments(spoken, Task(language="en"))]
            expected, found = words(sentence), words("".join(heard))
            right += sum(word in found for word in expected)
            total += len(expected)
            print(f"{sentence}\n  {''.join(heard)}")
    models.close()
    assert right / total > 0.9, f"{right} of {total} words"
