"""`/v1/embeddings`: vectors of texts."""

from django.http import HttpResponse
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.client_address import client_hash
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_embeddings
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.api.whole_answers import answer_whole
from backend.generation.service import embeddings_create

router = Router(tags=["embeddings"])


@router.post("/embeddings")
async def create_embeddings(request: AuthenticatedRequest, body: EmbeddingsRequest) -> HttpResponse:
    """OpenAI's embeddings. Input tokens are metered; what is embedded is not stored."""
    note_end_user(body.user)
    wanted = from_embeddings(
        body,
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
    return await answer_whole(request, wanted, embeddings_create)
