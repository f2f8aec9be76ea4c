"""`/v1/rerank`: documents by what they have to do with a query."""

from django.http import HttpResponse
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.client_address import client_hash
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_rerank
from backend.api.schemas.rerank import RerankBody
from backend.api.whole_answers import answer_whole
from backend.generation.service import rerank_create

router = Router(tags=["rerank"])


@router.post("/rerank")
async def create_rerank(request: AuthenticatedRequest, body: RerankBody) -> HttpResponse:
    """The documents, the most relevant first. Input tokens are metered; no text is stored."""
    note_end_user(body.user)
    wanted = from_rerank(
        body,
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
    return await answer_whole(request, wanted, rerank_create)
