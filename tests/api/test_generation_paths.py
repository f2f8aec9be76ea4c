"""Load shedding knows every endpoint that starts a generation."""

from backend.api.application import api
from backend.api.asgi import GENERATION_PATHS

# Posts of API keys that start no generation: what they cost is bounded elsewhere.
NO_GENERATION = {
    "/v1/embeddings",  # one short request to a replica, through the same admission
    "/v1/moderations",
}


def test_every_endpoint_of_the_inference_api_is_shed_or_named_here():
    posts = {
        path
        for path, operations in api.get_openapi_schema()["paths"].items()
        if "post" in operations and path.startswith("/v1/")
    }
    assert posts, "the schema lists the API's paths"
    forgotten = posts - GENERATION_PATHS - NO_GENERATION
    assert not forgotten, f"add to GENERATION_PATHS in backend/api/asgi.py: {sorted(forgotten)}"


def test_shed_paths_exist():
    posts = {path for path, ops in api.get_openapi_schema()["paths"].items() if "post" in ops}
    assert posts >= GENERATION_PATHS
