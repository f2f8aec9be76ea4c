"""The families whose images are read: a line for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inference.images.gemma3 import GemmaImages
from inference.images.idefics3 import IdeficsImages
from inference.images.llava_onevision import LlavaOnevisionImages
from inference.images.prepared import ImageProcessor
from inference.images.qwen2_vl import QwenImages
from inference.images.settings import image_settings

Settings = Mapping[str, Any]
PROCESSORS: dict[str, Callable[[Settings, Settings], ImageProcessor]] = {
    "Gemma3ForConditionalGeneration": GemmaImages,
    "Idefics3ForConditionalGeneration": IdeficsImages,
    "LlavaOnevisionForConditionalGeneration": LlavaOnevisionImages,
    "Qwen2_5_VLForConditionalGeneration": QwenImages,
    "SmolVLMForConditionalGeneration": IdeficsImages,
}
"""By `architectures` of config.json."""


def load_processor(model: str) -> ImageProcessor | None:
    """How the model in a folder reads images; None where it sees none."""
    file = Path(model) / "config.json"
    if not file.is_file():
        return None
    config: dict[str, Any] = json.loads(file.read_text())
    [name, *_] = config.get("architectures") or [""]
    make = PROCESSORS.get(name)
    return None if make is None else make(config, image_settings(Path(model)))
