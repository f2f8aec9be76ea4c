"""The images of a request: each is checked before an engine sees it.

Each is first decoded and scored in the threads for images, then checked with the prompt, which
finds the scores remembered. So images hold up neither the database's threads nor, being few at
once, memory. The page's have been checked when they were uploaded: a conversation that carries
them along pays once.
"""

import base64
import binascii

import structlog

from backend.generation.request import GenerationRequest
from backend.platform.bounded_threads import IMAGE_THREADS
from backend.platform.errors import InvalidRequest
from safety.judge.decoding import UnreadableImage
from safety.judge.images import check_image, image_score
from safety.judge.policy import Policy
from safety.types import SafetyDecision

log = structlog.get_logger(__name__)


async def images_score(request: GenerationRequest) -> None:
    """Remember the score of each image.

    Raises:
        InvalidRequest: what is called an image is none (`messages`).
        Overloaded: too many others wait for this.
    """
    urls = [image.url for message in request.messages for image in message.images]
    if urls:
        await IMAGE_THREADS.run(_score_all, urls)


def images_check(request: GenerationRequest, policy: Policy) -> list[SafetyDecision]:
    """A decision for each image.

    Raises:
        InvalidRequest: what is called an image is none (`messages`).
    """
    images = [image for message in request.messages for image in message.images]
    return [_check(image.url, policy) for image in images]


def _score_all(urls: list[str]) -> None:
    for url in urls:
        data = _bytes_in(url)
        try:
            image_score(data)
        except UnreadableImage as error:
            raise _unreadable(error) from error
        except Exception:  # a failing model: what follows is the policy's, by `images_check`
            log.warning("image_not_scored", exc_info=True)


def _check(url: str, policy: Policy) -> SafetyDecision:
    try:
        return check_image(_bytes_in(url), policy)
    except UnreadableImage as error:
        raise _unreadable(error) from error


def _bytes_in(url: str) -> bytes:
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> InvalidRequest:
    return InvalidRequest(f"An image cannot be read: {error}", param="messages")
