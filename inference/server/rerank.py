"""POST /v1/rerank: documents by how near they are to a query, in the shapes of Cohere, Jina, vLLM.

The score is the cosine of the query's vector and the document's, each read alone: what any model
with embeddings can give. An encoder that was trained for retrieval tells more than a decoder.
"""

from __future__ import annotations

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from inference.server.embeddings import embed_all, texts_as_ids
from inference.server.http import json_response, read_body, unless_gone
from inference.server.schemas import RerankRequest
from inference.server.state import ServerState


async def rerank(request: Request) -> Response:
    """The `top_n` documents, the nearest first; of equal ones the first given."""
    state: ServerState = request.app.state.server
    body = await read_body(request, RerankRequest)
    adapter = await state.adapter_of(body.model)
    state.admit(min(1 + len(body.documents), state.max_num_seqs))
    query = await texts_as_ids(state, body.query, "query")
    texts: list[int | str | list[int]] = [*body.documents]
    prompts = query + await texts_as_ids(state, texts, "documents")
    state.admit(min(len(prompts), state.max_num_seqs))
    vectors = await unless_gone(
        request.receive,
        embed_all(state, request, prompts, priority=body.priority, adapter=adapter),
    )
    wanted, *found = (np.frombuffer(vector, "<f4") for vector in vectors)
    scores = np.clip(np.stack(found) @ wanted, -1, 1)
    order = np.argsort(-scores, kind="stable")[: body.top_n]
    total = sum(map(len, prompts))
    answer = {
        "id": f"rerank-{request.state.unique_id}",
        "model": state.adapters.model_name(adapter),
        "usage": {"prompt_tokens": total, "total_tokens": total},
        "results": [_result(body, int(index), float(scores[index])) for index in order],
    }
    return json_response(answer, headers=request.state.headers)


def _result(body: RerankRequest, index: int, score: float) -> dict[str, object]:
    document = {"document": {"text": body.documents[index]}} if body.return_documents else {}
    return {"index": index, **document, "relevance_score": score}
