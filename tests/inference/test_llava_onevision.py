"""LLaVA-OneVision against transformers, on a tiny model with random weights: an image in tiles
with padding, one so large that its tokens are interpolated, and two beside one another."""

from __future__ import annotations

import pytest
import torch
import transformers
from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
    LlavaOnevisionImageProcessorPil,
)

from tests.inference.conftest import greedy, make_driver
from tests.inference.sample_images import processor_of, random_weights, reference, shown
from tests.inference.seeing import image
from tests.inference.test_idefics3 import SIDE, TEXT, TOKEN, VISION

GRIDS = [[SIDE * rows, SIDE * columns] for rows in (1, 2, 3) for columns in (1, 2, 3)]


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llava")
    torch.manual_seed(6)
    config = transformers.LlavaOnevisionConfig(
        text_config={**TEXT, "model_type": "qwen2"},
        vision_config={**VISION, "model_type": "siglip_vision_model"},
        image_token_index=TOKEN,
        image_grid_pinpoints=GRIDS,
        vision_aspect_ratio="anyres_max_4",
    )
    known = random_weights(transformers.LlavaOnevisionForConditionalGeneration(config))
    known.save_pretrained(folder)
    pil = LlavaOnevisionImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, image_grid_pinpoints=GRIDS
    )
    pil.save_pretrained(folder)
    return folder, known, pil


@pytest.mark.parametrize(
    "images",
    [[image(80, 130, 1)], [image(150, 160, 2)], [image(40, 90, 3), image(70, 30, 4)]],
    ids=["padded", "interpolated", "two"],
)
def test_same_greedy_tokens_as_transformers(llava, images):
    folder, known, pil = llava
    processor = processor_of(folder)
    alone = len(images) == 1
    prepared = [processor.prepare(one, "auto", alone=alone) for one in images]
    ids, placed = shown([5, 6, 7], prepared, [8, 9, 10], TOKEN)
    inputs = pil(images=[images], return_tensors="pt")
    wanted = reference(known, ids, 12, **inputs)
    driver = make_driver(folder, max_num_batched_tokens=23, mixed_step_tokens=11)
    one = driver.add(ids, greedy(max_tokens=12, ignore_eos=True), images=placed)
    assert driver.run()[one] == wanted
