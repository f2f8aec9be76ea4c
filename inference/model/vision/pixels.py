"""Pixels of eight bits to numbers around zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from inference.core import PromptImage


@dataclass(frozen=True)
class PixelScale:
    """How a family's preprocessor brings pixels to the scale that its tower was trained on."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    factor: float = 1 / 255

    @classmethod
    def read(cls, raw: Mapping[str, Any], default: PixelScale) -> PixelScale:
        """From the settings of an image processor, where a folder has such."""
        given: Mapping[str, Any] = raw.get("image_processor") or {}
        return cls(
            tuple(given.get("image_mean", default.mean)),
            tuple(given.get("image_std", default.std)),
            given.get("rescale_factor", default.factor),
        )

    def crops(self, image: PromptImage, like: Tensor) -> Tensor:
        """(crops, 3, height, width), on the device and in the type of `like`."""
        raw = torch.frombuffer(bytearray(image.pixels), dtype=torch.uint8).to(like.device)
        pixels = raw.view(*image.shape, 3).float() * self.factor
        mean, std = (torch.tensor(part, device=like.device) for part in (self.mean, self.std))
        return ((pixels - mean) / std).permute(0, 3, 1, 2).to(like.dtype)


CLIP = PixelScale((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
HALF = PixelScale((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
