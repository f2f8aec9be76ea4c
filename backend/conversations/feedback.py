"""A user's thumb on an answer, and the rated answers for training."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.data_policy import only_for_training
from backend.accounts.principal import Principal
from backend.conversations.models import Feedback, MessageRole
from backend.conversations.selectors import message_get
from backend.conversations.tree import path_to
from backend.platform.errors import InvalidRequest
from backend.platform.pages import in_pages

_COMMENT_LIMIT = 4000
_CONTEXT_BYTES = 8_000


@transaction.atomic
def feedback_set(
    *, principal: Principal, message_id: UUID, rating: int | None, comment: str = ""
) -> Feedback | None:
    """Set, change or (with None) take back the rating of an answer.

    Raises:
        NotFound: the message. InvalidRequest: with `param`: `rating`, `comment`, or a message
        that is no answer.
    """
    if rating not in (1, -1, None):
        raise InvalidRequest("rating must be 1, -1 or null.", param="rating")
    if len(comment) > _COMMENT_LIMIT or "\x00" in comment:
        raise InvalidRequest(
            f"comment must be at most {_COMMENT_LIMIT} characters, none of them null.",
            param="comment",
        )
    message = message_get(principal=principal, message_id=message_id)
    if message.role != MessageRole.ASSISTANT:
        raise InvalidRequest("Only answers can be rated.", param="message_id")
    if rating is None:
        Feedback.objects.filter(message=message, user_id=principal.user_id).delete()
        return None
    feedback, _ = Feedback.objects.update_or_create(
        message=message,
        user_id=principal.user_id,
        defaults={"rating": rating, "comment": comment.strip()},
    )
    return feedback


def rated_answers() -> Iterator[dict[str, Any]]:
    """Every answer that has a thumb: `prompt_id`, `prompt` (messages), `answer`, `rating`.

    `prompt` is the text of the path that ends with it, its newest part where that is long.
    Deleted conversations and empty answers are left out, and what may not train.
    """
    ratings = (
        only_for_training(
            Feedback.objects.filter(message__conversation__deleted_at=None),
            organization="message__conversation__organization_id",
            user="user_id",
        )
        .exclude(message__text="")
        .select_related("message")
    )
    for feedback in in_pages(ratings):
        answer = feedback.message
        if answer.parent_id is None:
            continue
        path = path_to(
            conversation_id=answer.conversation_id,
            leaf_id=answer.parent_id,
            max_bytes=_CONTEXT_BYTES,
        )
        yield {
            "prompt_id": str(answer.parent_id),
            "prompt": [{"role": m.role, "content": m.text} for m in path if m.text],
            "answer": answer.text,
            "rating": feedback.rating,
        }
