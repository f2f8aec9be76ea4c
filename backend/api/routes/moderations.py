"""`/v1/moderations`: what the safety classifiers say about texts and pictures."""

import uuid
from typing import Any

from asgiref.sync import sync_to_async
from ninja import Router

from backend.api.authentication import Request
from backend.api.schemas.openai_moderations import ModerationRequest
from backend.platform.errors import InvalidRequest
from safety.judge.images import ImageModelMissing, UnreadableImage
from safety.judge.moderation import moderate
from safety.judge.policy import DEFAULT_POLICY

router = Router(tags=["moderation"])


@router.post("/moderations")
async def create_moderation(request: Request, body: ModerationRequest) -> dict[str, Any]:
    """One result for each text, or one for a text with pictures. Free of charge, and nothing is
    stored."""

    def results() -> list[dict[str, Any]]:
        try:
            return [moderate(one.text, one.images) for one in body.inputs]
        except UnreadableImage as error:
            raise InvalidRequest(str(error), param="input") from error
        except ImageModelMissing as error:
            raise InvalidRequest(
                "Pictures cannot be scored here.", param="input", code="unsupported_by_model"
            ) from error

    return {
        "id": f"modr-{uuid.uuid4().hex}",
        "model": f"parley-safety-{DEFAULT_POLICY.version}",
        # A thread, because the classifiers compute; none of Django's: there is no query.
        "results": await sync_to_async(results, thread_sensitive=False)(),
    }
