"""What was heard, as OpenAI writes it: JSON, text, subtitles, events.

Times and segments are the voice server's (voice/server.py); nothing is computed here.
"""

from collections.abc import Sequence
from typing import Any

from backend.generation.voice import VoiceEvent

_SEGMENT_FIELDS = (
    "tokens",
    "temperature",
    "avg_logprob",
    "compression_ratio",
    "no_speech_prob",
)


def transcript(
    events: Sequence[VoiceEvent], *, form: str, task: str, words: bool
) -> dict[str, Any] | str:
    """The answer to a caller who waits for all of it.

    Args:
        form: OpenAI's `response_format`.
        task: `transcribe` or `translate`.
        words: whether times of words are in `verbose_json`.
    """
    segments = [event["segment"] for event in events if "segment" in event]
    done = next(event["done"] for event in events if "done" in event)
    text = text_of(segments)
    if form == "text":
        return f"{text}\n"
    if form == "srt":
        return _subtitles(segments, "", ",")
    if form == "vtt":
        return _subtitles(segments, "WEBVTT\n\n", ".")
    usage = {"type": "duration", "seconds": done["seconds"]}
    if form == "json":
        return {"text": text, "usage": usage}
    whole: dict[str, Any] = {
        "task": task,
        "language": done["language"],
        "duration": done["duration"],
        "text": text,
        "segments": [_segment(number, one) for number, one in enumerate(segments)],
        "usage": usage,
    }
    if words:
        whole["words"] = [word for one in segments for word in one["words"]]
    return whole


def text_of(segments: Sequence[dict[str, Any]]) -> str:
    return "".join(one["text"] for one in segments).strip()


def transcript_event(event: VoiceEvent, segments: list[dict[str, Any]]) -> dict[str, Any] | None:
    """OpenAI's event for one of the server's; None where it has none.

    Args:
        segments: those so far; it is added to.
    """
    if "segment" in event:
        before = len(text_of(segments))
        segments.append(event["segment"])
        text = text_of(segments)
        delta = text[before:]
        return {"type": "transcript.text.delta", "delta": delta} if delta else None
    if "done" in event:
        usage = {"type": "duration", "seconds": event["done"]["seconds"]}
        return {"type": "transcript.text.done", "text": text_of(segments), "usage": usage}
    return None


def _segment(number: int, segment: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": number,
        "seek": 0,
        "start": segment["start"],
        "end": segment["end"],
        "text": segment["text"],
        **{name: segment[name] for name in _SEGMENT_FIELDS},
    }


def _subtitles(segments: Sequence[dict[str, Any]], head: str, point: str) -> str:
    """SubRip, or WebVTT with its head; an arrow in a text would end its cue."""
    blocks = []
    for number, one in enumerate(segments, start=1):
        times = f"{_moment(one['start'], point)} --> {_moment(one['end'], point)}"
        text = one["text"].strip().replace("-->", "->")
        blocks.append(f"{times}\n{text}\n" if head else f"{number}\n{times}\n{text}\n")
    return head + "\n".join(blocks)


def _moment(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"
