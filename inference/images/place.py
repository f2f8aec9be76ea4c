"""Images into a prompt: into its text before it is tokenized, and at its tokens afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from inference.core import PromptImage
from inference.errors import InvalidRequestError
from inference.images.prepared import Pixels, Prepared


def expand_marks(segments: list[str], mark: str, images: Sequence[Prepared]) -> list[str]:
    """The template's text with each mark replaced by what its image is in the prompt.

    Raises:
        InvalidRequestError: the template has not shown each image once.
    """
    shown = sum(segment.count(mark) for segment in segments)
    if shown != len(images):
        raise InvalidRequestError(
            f"the model's chat template shows {shown} of {len(images)} images", param="messages"
        )
    left = iter(images)
    expanded = []
    for segment in segments:
        first, *rest = segment.split(mark)
        expanded.append(first + "".join(next(left).text + text for text in rest))
    return expanded


def place_images(
    token_ids: Sequence[int], image_token: int, images: Sequence[Prepared]
) -> tuple[PromptImage, ...]:
    """What each run of image tokens stands for.

    Raises:
        InvalidRequestError: there are not as many as the images have.
    """
    at = [index for index, token in enumerate(token_ids) if token == image_token]
    if len(at) != sum(image.num_tokens for image in images):
        raise InvalidRequestError("the model's tokenizer does not keep image tokens apart")
    placed = []
    for part in (part for image in images for part in image.parts):
        placed.append(_at(at[0], part))
        own, at = at[: part.num_tokens], at[part.num_tokens :]
        if own[-1] - own[0] + 1 != part.num_tokens:
            raise InvalidRequestError("the model's tokenizer does not keep image tokens apart")
    return tuple(placed)


def _at(start: int, part: Pixels) -> PromptImage:
    return PromptImage(
        start=start,
        num_tokens=part.num_tokens,
        key=part.key(),
        pixels=part.data.tobytes(),
        shape=part.shape,
        grid=part.grid,
        size=part.size,
    )
