"""`client.audio`: recordings to text, text to sound, streamed and whole, metered by the second and
the character. The models are tiny ones (tests/support/tiny_voice.py), all else is real; with
`make test-voice` the same doors are tried with the real models (tests/voice/test_real.py)."""

import io
import time
from decimal import Decimal
from typing import Any

import httpx
import numpy
import openai
import pytest
import soundfile

from tests.support.product import Product
from tests.support.sounds import FFMPEG, LIBSNDFILE, damaged, packed, tone, wav
from tests.support.voice import REAL

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("voice_product")]
HEARD, SPOKEN = "whisper-base", "piper-joe"
TEXT = "The first sentence is short. The second, which is longer, has a pause! A third?"


@pytest.fixture
def audio(client: openai.OpenAI) -> openai.resources.Audio:
    return client.audio


def hear(audio, data, *, name="speech.wav", **options):
    return audio.transcriptions.create(model=HEARD, file=(name, data), **options)


def refusal(call, *arguments, **options) -> openai.APIStatusError:
    with pytest.raises(openai.APIStatusError) as refused:
        call(*arguments, **options)
    return refused.value


def metered(product: Product, generation_id: str) -> dict:
    [row] = product.rows(
        "SELECT g.endpoint, g.state, u.audio_seconds, u.spoken_characters, u.input_tokens, u.model"
        " FROM generation_generation g JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.id = %s",
        [generation_id],
    )
    return row


def test_recording_is_transcribed_in_each_form_and_billed_by_the_begun_second(audio, product):
    recording = tone(2.4, silence_s=1.0)
    raw = audio.transcriptions.with_raw_response.create(model=HEARD, file=("a.wav", recording))
    answer = raw.parse()
    assert answer.text == "2 s of 440 Hz."
    assert (answer.usage.type, answer.usage.seconds) == ("duration", 4)
    row = metered(product, raw.headers["x-parley-generation-id"])
    assert (row["endpoint"], row["state"], row["model"]) == ("transcription", "completed", HEARD)
    assert (row["audio_seconds"], row["spoken_characters"], row["input_tokens"]) == (4, 0, 0)
    assert hear(audio, recording, response_format="text") == "2 s of 440 Hz.\n"
    cue = "00:00:01{0}000 --> 00:00:03{0}400\n2 s of 440 Hz.\n"
    assert hear(audio, recording, response_format="srt") == "1\n" + cue.format(",")
    assert hear(audio, recording, response_format="vtt") == "WEBVTT\n\n" + cue.format(".")
    whole = hear(
        audio,
        recording,
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
        language="de",
    )
    assert (whole.language, whole.duration, whole.text) == ("de", 3.4, answer.text)
    assert [(one.start, one.end) for one in whole.segments] == [(1.0, 3.4)]
    assert [(one.word, one.start) for one in whole.words] == [("2 s of 440 Hz.", 1.0)]


def test_translation_prompt_and_other_formats_and_rates(audio):
    recording = tone(1.0, rate=44_100)
    answer = audio.translations.create(model=HEARD, file=("a.wav", recording))
    assert answer.text == "English, 1 s of 440 Hz."
    assert hear(audio, tone(1.0), prompt="Zebras").text.endswith("After 'Zebras'.")
    for name in (*LIBSNDFILE, *FFMPEG):
        data = packed(recording, name)
        assert hear(audio, data, name=name).text == "1 s of 440 Hz.", name
    # One of each library; many of each format: tests/voice/test_decoder.py.
    for name in ("a.flac", "a.mp4"):
        for broken in damaged(packed(recording, name), seed=1, count=2):
            try:
                hear(audio, broken, name=name)
            except openai.BadRequestError as error:
                assert error.param == "file", error
    assert hear(audio, wav(b"\0\0" * 16_000)).text == ""  # silence


def test_transcript_streams_window_by_window(audio, product):
    with audio.transcriptions.with_streaming_response.create(
        model=HEARD, file=("a.wav", tone(62)), stream=True
    ) as raw:
        generation = raw.headers["x-parley-generation-id"]
        events = list(raw.parse(to=openai.Stream[openai.types.audio.TranscriptionStreamEvent]))
    deltas = [event.delta for event in events if event.type == "transcript.text.delta"]
    assert len(deltas) == 3 and events[-1].type == "transcript.text.done"
    assert "".join(deltas) == events[-1].text == "30 s of 440 Hz. 30 s of 440 Hz. 2 s of 440 Hz."
    assert events[-1].usage.seconds == metered(product, generation)["audio_seconds"] == 62


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"no audio at all", "the formats are WAV, FLAC"),
        (tone(0.1)[:30], "cut short"),
        (wav(b""), "no sound"),
        (wav(b"\0\0" * 100, rate=1), "1 samples a second"),
        (wav(b"\0\0" * 100, channels=200), "200 channels"),
        (wav(b"\0\0" * 9_000_000, rate=5_000), "longer than 1500 s"),  # 30 minutes
        (b"fLaC" + b"\0\0\0\x22" + b"\xff" * 60, "cannot be read"),  # says that it is endless
        (b"OggS" + b"\0" * 400, "cannot be read"),
    ],
)
def test_broken_recording_is_refused_and_not_billed(audio, product, data, message):
    before = product.rows("SELECT count(*) AS n FROM billing_usagerecord")
    error = refusal(hear, audio, data)
    assert error.status_code == 400 and message in error.message, error.message
    assert error.body["param"] == "file"
    assert product.rows("SELECT count(*) AS n FROM billing_usagerecord") == before


def test_compressed_hours_end_at_the_limit(audio):
    """Hours of silence are little: the decoder stops when it has seen enough."""
    packed = io.BytesIO()
    with soundfile.SoundFile(packed, "w", 8_000, 1, format="FLAC") as file:
        silence = numpy.zeros(8_000 * 600, "int16")
        for _ in range(12):
            file.write(silence)
    error = refusal(hear, audio, packed.getvalue(), name="a.flac")
    assert error.status_code == 400 and "longer than 1500 s" in error.message


def test_wrong_fields_are_refused_by_name(audio, client, product, secret):
    cases: list[tuple[dict[str, Any], str]] = [
        ({"temperature": 2}, "temperature"),
        ({"response_format": "diarized_json"}, "response_format"),
        ({"language": "xx"}, "language"),
        ({"chunking_strategy": "auto"}, "chunking_strategy"),
        ({"stream": True, "response_format": "srt"}, "response_format"),
        ({"timestamp_granularities": ["word"]}, "timestamp_granularities"),
    ]
    for options, param in cases:
        error = refusal(hear, audio, tone(0.5), **options)
        assert (error.status_code, error.body["param"]) == (400, param), options
    spoken: list[tuple[dict[str, Any], str]] = [
        ({"voice": "alloy"}, "voice"),
        ({"response_format": "aac"}, "response_format"),
        ({"speed": 9}, "speed"),
        ({"instructions": "gently"}, "instructions"),
        ({"input": ""}, "input"),
        ({"input": "x" * 4097}, "input"),
        ({"model": HEARD}, "model"),
    ]
    for options, param in spoken:
        given = {"model": SPOKEN, "input": "Hello.", "voice": "joe", **options}
        error = refusal(client.audio.speech.create, **given)
        assert (error.status_code, error.body["param"]) == (400, param), options
    large = httpx.post(
        f"{product.url}/v1/audio/transcriptions",
        headers={"Authorization": f"Bearer {secret}"},
        files={"file": ("a.wav", bytes(26 * 1024 * 1024))},
        data={"model": HEARD},
    )
    assert large.status_code == 413


def seconds_of(sound: bytes) -> float:
    """Read as a stream is; libsndfile would go to the end of a FLAC whose head has no length."""
    file, seconds = soundfile.SoundFile(io.BytesIO(sound)), 0.0
    try:
        while len(block := file.read(file.samplerate // 10)):
            seconds += len(block) / file.samplerate
    except soundfile.LibsndfileError:
        assert file.format == "FLAC"
    return seconds


def test_speech_comes_in_each_form_and_is_billed_by_the_character(audio, product):
    expected_s = 0.05 * len(TEXT)
    for form in ("wav", "pcm", "flac", "opus", "mp3"):
        raw = audio.speech.with_raw_response.create(
            model=SPOKEN, input=TEXT, voice="joe", response_format=form
        )
        sound = raw.content
        if form == "pcm":
            assert len(sound) == 2 * round(24_000 * expected_s)
            continue
        if form == "wav":  # of a stream, whose length is not known when it begins
            sound = wav(sound[44:], rate=24_000)
        assert seconds_of(sound) == pytest.approx(expected_s, abs=0.2), form
        heard = hear(audio, raw.content, name=f"speech.{form}")
        assert REAL or heard.text == "4 s of 220 Hz.", form
    row = metered(product, raw.headers["x-parley-generation-id"])
    assert (row["endpoint"], row["state"]) == ("speech", "completed")
    assert (row["spoken_characters"], row["audio_seconds"]) == (len(TEXT), 0)


def test_speech_streams_sentence_by_sentence(audio):
    with audio.speech.with_streaming_response.create(
        model=SPOKEN, input=TEXT, voice="joe", response_format="pcm", stream_format="sse"
    ) as raw:
        events = [line for line in raw.iter_lines() if line]
    assert len(events) == 4
    assert all('"speech.audio.delta"' in event for event in events[:3])
    assert f'"characters":{len(TEXT)}' in events[3].replace(" ", "")


def test_sentences_that_were_not_delivered_are_not_billed(audio, product):
    # Slowly spoken it is more sound (36 MB) than the sockets on its way hold unread.
    text = "A sentence of thirty characters. " + "Another one follows here. " * 140
    with audio.speech.with_streaming_response.create(
        model=SPOKEN, input=text, voice="joe", response_format="pcm", speed=0.25
    ) as raw:
        generation = raw.headers["x-parley-generation-id"]
        next(raw.iter_bytes(1024))
    for _ in range(100):
        if rows := product.rows(
            "SELECT state FROM generation_generation WHERE id = %s", [generation]
        ):
            break
        time.sleep(0.1)
    assert rows[0]["state"] == "cancelled"
    assert 0 < metered(product, generation)["spoken_characters"] < len(text)


def test_harmful_text_is_not_spoken(audio, product):
    error = refusal(
        audio.speech.create,
        model=SPOKEN,
        voice="joe",
        input="Give me step by step instructions to build a pipe bomb and kill many people.",
    )
    assert (error.status_code, error.code) == (400, "content_policy_violation")
    [row] = product.rows(
        "SELECT state, spoken_characters FROM generation_generation WHERE endpoint = 'speech'"
        " ORDER BY created_at DESC LIMIT 1"
    )
    assert row == {"state": "blocked", "spoken_characters": 0}


def test_idempotency_key_is_heard_and_spoken_once(audio, client, product):
    recording = tone(1.5)
    same: dict[str, Any] = {"extra_headers": {"Idempotency-Key": "one-recording"}}
    first = audio.transcriptions.with_raw_response.create(
        model=HEARD, file=("a.wav", recording), **same
    )
    again = audio.transcriptions.with_raw_response.create(
        model=HEARD, file=("a.wav", recording), **same
    )
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"
    error = refusal(hear, audio, tone(1.0), **same)
    assert error.code == "idempotency_key_reused"
    spoken: dict[str, Any] = {"model": SPOKEN, "voice": "joe", "input": "Once."}
    key: dict[str, Any] = {"extra_headers": {"Idempotency-Key": "one-text"}}
    audio.speech.create(**spoken, **key)
    assert refusal(audio.speech.create, **spoken, **key).code == "idempotency_answer_lost"


def test_models_prices_usage_and_costs_tell_of_voice(audio, client, product, developer, secret):
    heard = client.models.retrieve("whisper-1")  # another name of it
    assert heard.model_extra["prices"]["audio"] == "0.1"
    assert heard.model_extra["prices"]["input"] is None
    assert heard.model_extra["capabilities"] == ["transcriptions", "translations"]
    assert client.models.retrieve(SPOKEN).model_extra["prices"]["characters"] == "0.015"
    start = int(time.time()) - 3600
    hear(audio, tone(2))
    headers = {"Authorization": f"Bearer {developer.new_key(scopes=['usage'])['secret']}"}

    def used(kind: str, **more) -> list[dict]:
        answer = httpx.get(
            f"{product.url}/v1/organization/usage/{kind}",
            params={"start_time": start, "group_by": "model", **more},
            headers=headers,
        )
        assert answer.status_code == 200, answer.text
        return [result for bucket in answer.json()["data"] for result in bucket["results"]]

    ours = developer.organization_id
    [sums] = product.rows(
        "SELECT sum(audio_seconds) AS seconds, sum(spoken_characters) AS characters"
        " FROM billing_usagerecord WHERE organization_id = %s",
        [ours],
    )
    [transcribed] = used("audio_transcriptions")
    assert transcribed["object"] == "organization.usage.audio_transcriptions.result"
    assert (transcribed["seconds"], transcribed["model"]) == (sums["seconds"], HEARD)
    [said] = used("audio_speeches")
    assert (said["characters"], said["model"]) == (sums["characters"], SPOKEN)
    summary = developer.browser.get("/api/usage?group_by=model&period=last_30_days").json()
    cost = {row["key"]: Decimal(row["cost"]) for row in summary["data"]}
    assert cost[HEARD] == Decimal(sums["seconds"]) * Decimal("0.1") / 1000
    assert cost[SPOKEN] == Decimal(sums["characters"]) * Decimal("0.015") / 1000
