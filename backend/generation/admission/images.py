"""The images of a request: each is checked before an engine sees it.

The page's have been checked when they were uploaded; their scores are remembered, so a
conversation that carries them along pays once. CPU-bound: call it in a thread.
"""

import base64
import binascii

from backend.generation.request import GenerationRequest
from backend.platform.errors import InvalidRequest
from safety.judge.images import UnreadableImage, check_image
from safety.judge.policy import Policy
from safety.types import SafetyDecision


def images_check(request: GenerationRequest, policy: Policy) -> list[SafetyDecision]:
    """A decision for each image.

    Raises:
        InvalidRequest: what is called an image is none (`messages`).
    """
    images = [image for message in request.messages for image in message.images]
    return [_check(image.url, policy) for image in images]


def _check(url: str, policy: Policy) -> SafetyDecision:
    try:
        return check_image(base64.b64decode(url.partition(",")[2], validate=True), policy)
    except (UnreadableImage, binascii.Error) as error:
        raise InvalidRequest(f"An image cannot be read: {error}", param="messages") from error
