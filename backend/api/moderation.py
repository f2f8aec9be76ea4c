"""A moderation: what the classifiers say of texts and images, as OpenAI's object."""

from typing import Any
from uuid import uuid4

from backend.api.schemas.openai_moderations import ModerationRequest
from backend.platform.bounded_threads import IMAGE_THREADS, BoundedThreads
from backend.platform.errors import InvalidRequest
from safety.judge.decoding import UnreadableImage
from safety.judge.images import ImageModelMissing
from safety.judge.moderation import moderate
from safety.judge.policy import DEFAULT_POLICY

# Classifiers compute: they leave cores to the streams beside them.
_TEXT_THREADS = BoundedThreads("moderations", at_once=2, waiting=200)


async def moderation(body: ModerationRequest) -> dict[str, Any]:
    """One result for each text, or one for a text with images.

    Raises:
        InvalidRequest: an image cannot be read, or none can be scored here.
    """

    def results() -> list[dict[str, Any]]:
        try:
            return [moderate(one.text, one.images) for one in body.inputs]
        except UnreadableImage as error:
            raise InvalidRequest(str(error), param="input") from error
        except ImageModelMissing as error:
            raise InvalidRequest(
                "Images cannot be scored here.", param="input", code="unsupported_by_model"
            ) from error

    has_images = any(one.images for one in body.inputs)
    return {
        "id": f"modr-{uuid4().hex}",
        "model": f"parley-safety-{DEFAULT_POLICY.version}",
        "results": await (IMAGE_THREADS if has_images else _TEXT_THREADS).run(results),
    }
