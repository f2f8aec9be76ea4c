"""`/v1/completions`: continues a prompt of text or token ids."""

from django.http.response import HttpResponseBase
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.best_of import completion_shape
from backend.api.client_address import client_hash
from backend.api.idempotency import answer_once
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_completion
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_responses import GENERATION_RESPONSES

router = Router(tags=["generation"])


@router.post("/completions", **GENERATION_RESPONSES)
async def create_completion(
    request: AuthenticatedRequest, body: CompletionRequest
) -> HttpResponseBase:
    """OpenAI's text completion. With `stream` true: server-sent events, `[DONE]` last."""
    note_end_user(body.user)
    return await answer_once(
        request,
        from_completion(
            body,
            principal=request.auth,
            request_id=request.request_id,
            client_hash=client_hash(request),
        ),
        streamed=bool(body.stream),
        shape=completion_shape(body),
    )
