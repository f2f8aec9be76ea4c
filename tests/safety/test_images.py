"""Images are scored by the real model; what cannot be scored follows the policy."""

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image

from safety.health import failures_clear, recent_failures
from safety.judge import images
from safety.judge.decoding import UnreadableImage
from safety.judge.images import check_image, image_score, memory_clear
from safety.judge.policy import DEFAULT_POLICY
from safety.taxonomy import Category
from safety.types import Action


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    memory_clear()
    failures_clear()
    yield
    memory_clear()
    failures_clear()


def landscape() -> bytes:
    image = Image.new("RGB", (320, 240), (120, 170, 230))
    image.paste((70, 120, 60), (0, 140, 320, 240))
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def test_landscape_scores_low_and_the_same_again() -> None:
    score = image_score(landscape())
    assert score < 0.3
    assert image_score(landscape()) == score
    assert check_image(landscape(), DEFAULT_POLICY).action is Action.ALLOW


def test_bytes_that_are_no_image_are_refused() -> None:
    for data in (b"GIF89a but not really", landscape()[:200], b""):
        with pytest.raises(UnreadableImage):
            image_score(data)


def test_image_is_decided_at_the_threshold_of_the_policy() -> None:
    from_zero = {**DEFAULT_POLICY.thresholds, Category.SEXUAL_CONTENT: 0.0}
    policy = replace(DEFAULT_POLICY, thresholds=from_zero)
    decision = check_image(landscape(), policy)
    assert (decision.action, decision.layer) == (Action.BLOCK, "images")
    dry = check_image(landscape(), replace(policy, dry_run=True))
    assert (dry.action, dry.would_be) == (Action.FLAG, Action.BLOCK)


@pytest.mark.parametrize(
    ("fail_closed", "action"),
    [(frozenset(), Action.FLAG), (frozenset({Category.SEXUAL_CONTENT}), Action.BLOCK)],
)
def test_crashed_image_model_is_a_failed_layer(
    monkeypatch: pytest.MonkeyPatch, fail_closed: frozenset[Category], action: Action
) -> None:
    def crash() -> None:
        raise MemoryError("on purpose")

    monkeypatch.setattr(images, "_model", crash)
    decision = check_image(landscape(), replace(DEFAULT_POLICY, fail_closed=fail_closed))
    assert (decision.action, decision.failed) == (action, ("images",))
    assert [failure.layer for failure in recent_failures()] == ["images"]
