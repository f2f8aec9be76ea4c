"""`/v1/embeddings`: vectors of texts."""

from django.http import HttpResponse
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.client_address import client_hash
from backend.api.generations import id_header
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_embeddings
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.generation.lifespan import gateway_of
from backend.generation.service import embeddings_create
from backend.platform.database import release_connection
from backend.platform.json import encode_json

router = Router(tags=["embeddings"])


@router.post("/embeddings")
async def create_embeddings(request: AuthenticatedRequest, body: EmbeddingsRequest) -> HttpResponse:
    """OpenAI's embeddings. Input tokens are metered; what is embedded is not stored."""
    note_end_user(body.user)
    embedding = from_embeddings(
        body,
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
    await release_connection()
    made = await embeddings_create(gateway_of(request.scope), embedding)
    return HttpResponse(
        encode_json(made.body),
        content_type="application/json",
        headers={**made.ratelimit_headers, **id_header(made.id)},
    )
