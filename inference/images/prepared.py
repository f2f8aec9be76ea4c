"""What an image becomes before its prompt is computed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from PIL import Image

Detail = Literal["auto", "low", "high"]


@dataclass(frozen=True)
class Pixels:
    """What a run of image tokens stands for.

    Attributes:
        data: (crops, height, width, 3) of eight bits.
        grid, size: `PromptImage`'s.
    """

    num_tokens: int
    data: np.ndarray
    grid: tuple[int, int] = (0, 0)
    size: tuple[int, int] = (0, 0)

    @property
    def shape(self) -> tuple[int, int, int]:
        crops, height, width, _ = self.data.shape
        return crops, height, width

    def key(self) -> bytes:
        """Equal only where features and places of all tokens are."""
        about = repr((self.num_tokens, self.shape, self.grid, self.size)).encode()
        digest = hashlib.blake2b(about, digest_size=16, person=b"image")
        digest.update(np.ascontiguousarray(self.data).data)
        return digest.digest()


@dataclass(frozen=True)
class Prepared:
    """An image in a prompt.

    Attributes:
        text: what the template's mark is replaced with: an image token for each of its features.
        parts: what the image tokens stand for, in order.
    """

    text: str
    parts: tuple[Pixels, ...]

    @property
    def num_tokens(self) -> int:
        return sum(part.num_tokens for part in self.parts)


class ImageProcessor(Protocol):
    """How a family reads images."""

    mark: str
    """What its chat template writes for an image."""
    image_token: str
    """The token whose embedding is replaced."""

    def prepare(self, image: Image.Image, detail: Detail, *, alone: bool) -> Prepared:
        """An image in RGB, as its vision tower takes it.

        Args:
            detail: `low`: as few tokens as the family allows.
            alone: whether it is its prompt's only one.
        Raises:
            ValueError: of a shape that the family cannot see.
        """
        ...


def as_array(image: Image.Image) -> np.ndarray:
    """(height, width, 3) of eight bits."""
    return np.asarray(image, dtype=np.uint8)
