"""Thumbs and review outcomes become preference pairs, from the tables to the file."""

import uuid
from pathlib import Path

import pytest

from backend.conversations.feedback import feedback_set
from backend.conversations.models import MessageStatus
from backend.conversations.turns import message_finish, turn_create, turn_regenerate
from safety.audit.models import ReviewState
from safety.audit.services import (
    RetainedText,
    appeal_create,
    decision_record,
    prompt_retain,
    review_resolve,
)
from safety.training.preferences.__main__ import main
from safety.training.preferences.pairs import (
    REFUSAL,
    InvalidPair,
    PreferencePair,
    pairs_from_reviews,
    pairs_from_thumbs,
    read_pairs,
    write_pairs,
)
from safety.types import Action, SafetyDecision, Stage
from tests.factories import MODEL, ConversationFactory, member

QUESTION = ({"role": "user", "content": "What is a lighthouse?"},)


def test_only_answers_to_the_same_prompt_are_compared() -> None:
    def rated(question: str, answer: str, rating: int) -> dict[str, object]:
        return {"prompt_id": question, "prompt": QUESTION, "answer": answer, "rating": rating}

    pairs = pairs_from_thumbs(
        [
            rated("a", "A tower with a lamp.", 1),
            rated("a", "A fish.", -1),
            rated("a", "A house of straw.", -1),
            rated("b", "A ship.", -1),
            rated("c", "A tower.", 1),
        ]
    )
    assert [(pair.chosen, pair.rejected) for pair in pairs] == [
        ("A tower with a lamp.", "A fish."),
        ("A tower with a lamp.", "A house of straw."),
    ]


@pytest.mark.parametrize(
    ("stage", "label", "chosen", "rejected", "refuses"),
    [
        ("prompt", "harmful", REFUSAL, None, True),
        ("prompt", "benign", None, REFUSAL, False),
        ("output", "harmful", REFUSAL, "Step one.", True),
        ("output", "benign", "Step one.", REFUSAL, False),
    ],
)
def test_review_outcome_becomes_a_pair(
    stage: str, label: str, chosen: str | None, rejected: str | None, refuses: bool
) -> None:
    text = "Step one." if stage == "output" else "How?"
    row = {"stage": stage, "label": label, "text": text, "prompt": "How?"}
    [pair] = pairs_from_reviews([row])
    assert pair.prompt == ({"role": "user", "content": "How?"},)
    assert (pair.chosen, pair.rejected, pair.refuses) == (chosen, rejected, refuses)


def test_reviewed_answer_is_left_out_when_its_prompt_is_not_retained() -> None:
    row = {"stage": "output", "label": "harmful", "text": "Step one.", "prompt": ""}
    assert pairs_from_reviews([row]) == []


def test_pairs_are_read_back_and_an_invalid_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    pairs = [PreferencePair(QUESTION, "A tower.", None, "thumbs", refuses=False)]
    assert write_pairs(file, pairs) == 1
    assert list(read_pairs(file)) == pairs
    for line in ('{"prompt": []}', "[]", file.read_text().replace('"A tower."', "null")):
        file.write_text(line)
        with pytest.raises(InvalidPair, match=r"pairs\.jsonl:1"):
            list(read_pairs(file))


@pytest.mark.django_db(transaction=True)
def test_ratings_and_reviews_are_exported_as_pairs(tmp_path: Path) -> None:
    user = member()
    conversation = ConversationFactory.create(
        organization_id=user.organization_id, user_id=user.user_id
    )
    turn = turn_create(
        principal=user,
        conversation_id=conversation.id,
        parts=[{"type": "text", "text": "What is a lighthouse?"}],
        model=MODEL,
    )
    answers = {}
    for text, rating in (("A tower with a lamp.", 1), ("A kind of fish.", -1)):
        message = turn.assistant_message
        message_finish(
            message_id=message.id,
            text=text,
            status=MessageStatus.COMPLETED,
            finish_reason="stop",
            input_tokens=1,
            output_tokens=1,
        )
        feedback_set(principal=user, message_id=message.id, rating=rating)
        answers[rating] = text
        turn = turn_regenerate(principal=user, message_id=message.id)

    def decided(stage: Stage, action: Action, text: str, generation_id: uuid.UUID) -> None:
        decision = SafetyDecision(stage, action, {}, [], "v", 1.0, "lexical", "")
        decision_record(
            decision=decision,
            organization_id=user.organization_id,
            generation_id=generation_id,
            user_id=user.user_id,
            key_id=None,
            text=RetainedText(text, 7),
        )

    generation_id = uuid.uuid4()
    decided("prompt", Action.ALLOW, "What now?", generation_id)
    decided("output", Action.BLOCK, "First you take a pipe.", generation_id)
    prompt_retain(generation_id=generation_id, text=RetainedText("What now?", 7))
    review = appeal_create(principal=user, generation_id=generation_id, appeal="")
    review_resolve(review_id=review.id, state=ReviewState.CONFIRMED, reviewer_id=None)

    target = tmp_path / "pairs.jsonl"
    assert main(["export", str(target)]) == 0
    thumbs, reviewed = read_pairs(target)
    assert thumbs == PreferencePair(QUESTION, answers[1], answers[-1], "thumbs", refuses=False)
    assert reviewed.prompt == ({"role": "user", "content": "What now?"},)
    assert (reviewed.chosen, reviewed.rejected) == (REFUSAL, "First you take a pipe.")
