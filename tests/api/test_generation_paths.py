"""Load shedding knows every endpoint that starts a generation."""

from backend.api.application import api, generation_paths

# Posts of API keys that start no generation: what they cost is bounded elsewhere.
NO_GENERATION = {
    "/v1/chat/completions/{completion_id}",
    "/v1/embeddings",  # one short request to a replica, through the same admission
    "/v1/rerank",  # as embeddings
    "/v1/audio/transcriptions",  # as embeddings, with a pool of its own
    "/v1/audio/translations",
    "/v1/audio/speech",
    "/v1/messages/count_tokens",  # one short request to a replica
    "/v1/batches",  # its lines are admitted where nobody waits
    "/v1/batches/{batch_id}/cancel",
    "/v1/files",
    "/v1/uploads",
    "/v1/uploads/{upload_id}/cancel",
    "/v1/uploads/{upload_id}/complete",
    "/v1/uploads/{upload_id}/parts",
    "/v1/conversations",
    "/v1/conversations/{openai_conversation_id}",
    "/v1/conversations/{openai_conversation_id}/items",
    "/v1/moderations",
    "/v1/responses/{response_id}/cancel",
}


def test_every_endpoint_of_the_inference_api_is_shed_or_named_here():
    posts = {
        path
        for path, operations in api.get_openapi_schema()["paths"].items()
        if "post" in operations and path.startswith("/v1/")
    }
    assert posts, "the schema lists the API's paths"
    administration = {path for path in posts if path.startswith("/v1/organization/")}
    forgotten = posts - generation_paths() - NO_GENERATION - administration
    assert not forgotten, f"declare GENERATION_RESPONSES, or name it here: {sorted(forgotten)}"


def test_streaming_paths_are_shed():
    """As the document has it, which is how the paths are written."""
    streaming = {
        path
        for path, operations in api.get_openapi_schema()["paths"].items()
        if "text/event-stream" in str(operations.get("post", {}).get("responses", {}))
    }
    shed = {path for path in streaming if "{" not in path and "/audio/" not in path}
    assert shed == generation_paths()
