"""`/v1/moderations`: what the safety rules say about a text."""

import uuid
from typing import Any

from asgiref.sync import sync_to_async
from ninja import Router

from backend.api.authentication import Request
from backend.api.schemas.openai_moderations import ModerationRequest
from safety.moderation import moderate
from safety.policy import DEFAULT_POLICY

router = Router(tags=["moderation"])


@router.post("/moderations")
async def create_moderation(request: Request, body: ModerationRequest) -> dict[str, Any]:
    """One result for each text. Free of charge, and nothing is stored."""

    def results() -> list[dict[str, Any]]:
        return [moderate(text) for text in body.texts]

    return {
        "id": f"modr-{uuid.uuid4().hex}",
        "model": f"parley-safety-{DEFAULT_POLICY.version}",
        # A thread, because the rules compute; none of Django's, because there is no query.
        "results": await sync_to_async(results, thread_sensitive=False)(),
    }
