"""`/v1/moderations`: what the safety classifiers say about texts and images."""

from typing import Any

from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.moderation import moderation
from backend.api.schemas.openai_moderations import ModerationRequest
from backend.api.throttling import count_use

router = Router(tags=["moderation"])


@router.post("/moderations")
async def create_moderation(
    request: AuthenticatedRequest, body: ModerationRequest
) -> dict[str, Any]:
    """One result for each text, or one for a text with images. Free of charge, and nothing is
    stored. Limited by user and by address."""
    await count_use(request, request.auth, "moderations")
    return await moderation(body)
