"""The images of a request: found in its messages, bounded, made ready beside the event loop."""

from __future__ import annotations

from dataclasses import dataclass

from inference.core import PromptImage
from inference.errors import InvalidRequestError
from inference.images.decode import decode_image
from inference.images.prepared import ImageProcessor, Prepared
from inference.server.schemas import ImagePart, InputMessage
from inference.server.state import ServerState

MAX_IMAGES = 16
MAX_PIXELS = 24_000_000
"""Of all images of a request, once they have the size that the model sees: 72 MB."""


_MAX_COPIED_PIXELS = 2 * MAX_PIXELS
"""Of all choices together: the core is sent the images with each."""


def check_copies(images: tuple[PromptImage, ...], n: int) -> None:
    """Raises InvalidRequestError: so many choices about these images take too much memory."""
    pixels = n * sum(image.num_pixels for image in images)
    if pixels > _MAX_COPIED_PIXELS:
        raise InvalidRequestError(
            f"{n} choices about images of {pixels // n} pixels are more than "
            f"{_MAX_COPIED_PIXELS} pixels in all",
            param="n",
        )


@dataclass(frozen=True)
class _Sent:
    """An image as it was sent, and which field of the body holds it."""

    part: ImagePart
    param: str


async def prepare_images(state: ServerState, messages: list[InputMessage]) -> list[Prepared]:
    """Every image of the messages, in their order, as the model's tower takes it.

    Raises:
        InvalidRequestError: the model sees none, there are too many, or one cannot be read; it
            names the field.
    """
    sent = [
        _Sent(part, f"messages[{index}].content[{at}]")
        for index, message in enumerate(messages)
        if isinstance(message.content, list)
        for at, part in enumerate(message.content)
        if isinstance(part, ImagePart)
    ]
    if not sent:
        return []
    processor = state.images
    if processor is None or not state.model_info.sees_images:
        raise InvalidRequestError("this model sees no images", param=sent[0].param)
    if not state.chat_template.takes_parts:
        raise InvalidRequestError("this model's chat template shows no images", param=sent[0].param)
    if len(sent) > MAX_IMAGES:
        raise InvalidRequestError(
            f"{len(sent)} images are more than the {MAX_IMAGES} that are taken",
            param=sent[MAX_IMAGES].param,
        )
    return await state.off_loop(_prepare, processor, sent)


def _prepare(processor: ImageProcessor, sent: list[_Sent]) -> list[Prepared]:
    prepared = []
    left = MAX_PIXELS
    for one in sent:
        image = decode_image(one.part.image_url.url, f"{one.param}.image_url.url")
        try:
            detail = one.part.image_url.wanted_detail
            prepared.append(processor.prepare(image, detail, alone=len(sent) == 1))
        except ValueError as error:
            message = f"the image cannot be seen: {error}"
            raise InvalidRequestError(message, param=one.param) from error
        left -= sum(part.data.size // 3 for part in prepared[-1].parts)
        if left < 0:
            raise InvalidRequestError(
                f"the images have more than {MAX_PIXELS} pixels; send some with detail low",
                param=one.param,
            )
    return prepared
