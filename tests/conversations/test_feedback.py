"""A thumb can be given, turned and taken back, on answers only."""

import pytest

from backend.conversations.feedback import feedback_set
from backend.conversations.models import Feedback
from backend.conversations.selectors import branch_get
from backend.platform.errors import InvalidRequest
from tests.conversations.message_trees import finished_turns
from tests.factories import member

pytestmark = pytest.mark.django_db


def test_feedback_is_set_changed_and_removed():
    user = member()
    conversation = finished_turns(user, 1)
    answer_id = conversation.active_message_id
    assert answer_id is not None

    feedback_set(principal=user, message_id=answer_id, rating=1)
    feedback_set(principal=user, message_id=answer_id, rating=-1, comment=" wrong ")

    shown = branch_get(principal=user, conversation_id=conversation.id).messages[-1].feedback
    assert shown is not None
    assert (shown.rating, shown.comment) == (-1, "wrong")
    assert Feedback.objects.count() == 1
    assert feedback_set(principal=user, message_id=answer_id, rating=None) is None
    assert not Feedback.objects.exists()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"rating": 0}, "rating"),
        ({"rating": 5}, "rating"),
        ({"rating": 1, "comment": "x" * 4001}, "comment"),
        ({"rating": 1, "comment": "a\x00"}, "comment"),
    ],
)
def test_feedback_is_refused_when_invalid(fields, param):
    user = member()
    answer_id = finished_turns(user, 1).active_message_id
    assert answer_id is not None
    with pytest.raises(InvalidRequest) as refused:
        feedback_set(principal=user, message_id=answer_id, **fields)
    assert refused.value.param == param


def test_feedback_on_a_prompt_is_refused():
    user = member()
    prompt = finished_turns(user, 1).messages.get(role="user")
    with pytest.raises(InvalidRequest):
        feedback_set(principal=user, message_id=prompt.id, rating=1)
