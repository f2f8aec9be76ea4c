"""Calls of the worker to the product's own `/v1/chat/completions`, in the name of a chat's person:
so they are limited, checked, queued by plan and metered like any other.

A task may run twice (its worker died, or its message was delivered again). What it asks is the same
then, and so is its `Idempotency-Key`: the answer is the first one's, and is billed once.
"""

import hashlib
from typing import Any
from urllib.parse import urlparse
from uuid import UUID

import httpx2
import orjson
from django.conf import settings

from backend.accounts.internal_calls import internal_token
from backend.conversations.models import Conversation
from backend.platform.guarded_client import bounded_post

TIMEOUT_S = 60.0
FAILURES = (httpx2.HTTPError, ValueError, KeyError, IndexError, TypeError, AttributeError)
"""Exceptions of `answer_to`, and of reading its answer."""


def answer_to(
    conversation: Conversation,
    messages: list[dict[str, str]],
    *,
    purpose: str,
    about: UUID,
    timeout_s: float = TIMEOUT_S,
    **parameters: Any,
) -> str:
    """What the chat's model answers.

    Args:
        purpose, about: what it is for, and of which row: they name the request.
        parameters: of the completion.
    """
    body = {"model": conversation.model, "messages": messages, "temperature": 0, **parameters}
    content = orjson.dumps(body)
    token = internal_token(
        organization_id=conversation.organization_id,
        user_id=conversation.user_id,
        project_id=conversation.project_id,
    )
    name = f"{purpose}-{about}"
    response = bounded_post(
        f"{settings.INTERNAL_URL}/v1/chat/completions",
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            # The address inside a cluster differs from the one that hosts are checked by.
            "Host": urlparse(settings.PUBLIC_URL).netloc,
            "X-Request-Id": name,
            "Idempotency-Key": f"{name}-{hashlib.sha256(content).hexdigest()[:32]}",
        },
        content=content,
        timeout_s=timeout_s,
    )
    response.raise_for_status()
    answer: str | None = response.json()["choices"][0]["message"]["content"]
    return answer or ""
