"""Prompts that show images, for tests of models that see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from inference.core import PromptImage
from inference.images.place import place_images
from inference.images.prepared import ImageProcessor, Prepared
from inference.images.registry import load_processor
from inference.runner.images import ImageFeatures
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver


def shown(
    before: list[int], images: list[Prepared], after: list[int], token: int
) -> tuple[list[int], tuple[PromptImage, ...]]:
    """A prompt of the images, with a token between two, among others."""
    ids = list(before)
    for one in images:
        for part in one.parts:
            ids += [token] * part.num_tokens + [3]
    ids += after
    return ids, place_images(ids, token, images)


def processor_of(folder: Path) -> ImageProcessor:
    found = load_processor(str(folder))
    assert found is not None
    return found


def features_of(driver: Driver) -> ImageFeatures:
    """What the driver's core keeps of images."""
    runner = driver.core.runner
    assert isinstance(runner, ModelRunner)
    assert runner._images is not None
    return runner._images


def random_weights(model: Any) -> Any:
    """Norms and biases too, which start as ones and zeros."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.float().eval()


def reference(model: Any, ids: list[int], count: int, **inputs: Any) -> list[int]:
    """transformers' greedy answer."""
    with torch.inference_mode():
        answer = model.generate(
            input_ids=torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            **inputs,
        )
    return answer[0, len(ids) :].tolist()
