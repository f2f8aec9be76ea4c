"""Qwen2.5-VL against transformers, on a tiny model with random weights.

Images are larger than a window, of other shapes than squares, and prompts are computed in chunks
that end inside them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from inference.images.qwen2_vl import QwenImages
from inference.model.build import build_vision
from inference.model.files.open import open_weights
from tests.inference.conftest import greedy, make_driver
from tests.inference.sample_images import (
    features_of,
    processor_of,
    random_weights,
    reference,
    shown,
)
from tests.inference.seeing import image

TOKEN = 130
IMAGES = [image(150, 95, 1), image(60, 300, 2)]


def make_qwen(folder: Path) -> Any:
    """transformers' model, saved in `folder`."""
    torch.manual_seed(3)
    text = {
        "vocab_size": 140,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "initializer_range": 0.15,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 5000.0,
            "mrope_section": [2, 3, 3],
        },
    }
    vision = {
        "depth": 3,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 2,
        "out_hidden_size": 64,
        "fullatt_block_indexes": [1],
        "window_size": 56,
        "initializer_range": 0.15,
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config=text, vision_config=vision, image_token_id=TOKEN
    )
    model = random_weights(transformers.Qwen2_5_VLForConditionalGeneration(config))
    model.save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=56 * 56, max_pixels=200 * 200).save_pretrained(folder)
    return model


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qwen")
    return folder, make_qwen(folder)


def prompt_of(folder, images, detail="auto"):
    processor = processor_of(folder)
    prepared = [processor.prepare(one, detail, alone=False) for one in images]
    return shown([5, 6, 7, 131], prepared, [8, 9, 10, 11, 12], TOKEN)


def inputs_of(folder, ids):
    """What transformers makes of the same images."""
    inputs = Qwen2VLImageProcessorPil.from_pretrained(folder)(images=IMAGES, return_tensors="pt")
    kinds = torch.tensor([[int(token == TOKEN) for token in ids]])
    return {"mm_token_type_ids": kinds, **inputs}


def test_features_are_those_of_transformers(qwen):
    folder, known = qwen
    ids, images = prompt_of(folder, IMAGES)
    inputs = inputs_of(folder, ids)
    tower = build_vision(open_weights(str(folder)), torch.float32, torch.device("cpu"))
    assert tower is not None
    with torch.inference_mode():
        found = torch.cat([tower(image) for image in images])
        wanted = known.model.visual(inputs["pixel_values"], grid_thw=inputs["image_grid_thw"])
    torch.testing.assert_close(found, wanted.pooler_output, rtol=1e-4, atol=1e-4)


def test_same_greedy_tokens_as_transformers(qwen):
    """In chunks, beside one another, from the prefix cache, and after being preempted."""
    folder, known = qwen
    ids, images = prompt_of(folder, IMAGES)
    wanted = reference(known, ids, 12, **inputs_of(folder, ids))
    driver = make_driver(folder, max_num_batched_tokens=23, mixed_step_tokens=11)
    sampling = greedy(max_tokens=12, ignore_eos=True)
    both = [driver.add(ids, sampling, images=images) for _ in range(2)]
    driver.run()
    cached = driver.add(ids, sampling, images=images)
    for _ in range(4):
        driver.step()
    assert driver.core.scheduler.running
    driver.core.scheduler._preempt(driver.core.scheduler.running[0])
    tokens = driver.run()
    assert [tokens[one] for one in (*both, cached)] == [wanted] * 3
    assert driver.cached[cached] >= 32
    assert features_of(driver).computed == 2  # each image once


def test_prefix_cache_tells_images_and_tenants_apart(qwen):
    """Same tokens, another image of the same size: nothing from its first token on is shared."""
    folder, _ = qwen
    ids, images = prompt_of(folder, IMAGES)
    other_ids, others = prompt_of(folder, [image(150, 95, 7), IMAGES[1]])
    assert ids == other_ids
    sampling = greedy(max_tokens=12, ignore_eos=True)
    cold, warm = make_driver(folder), make_driver(folder)
    alone = cold.add(ids, sampling, images=others)
    wanted = cold.run()[alone]
    first = warm.add(ids, sampling, images=images)
    assert warm.run()[first] != wanted
    after = warm.add(ids, sampling, images=others)
    tenant = warm.add(ids, sampling, images=images, salt="another")
    tokens = warm.run()
    assert tokens[after] == wanted
    assert warm.cached[after] == warm.cached[tenant] == 0
    assert tokens[tenant] == tokens[first]
    assert features_of(warm).computed == 5  # the second image is known to one tenant only


def test_low_detail_takes_fewer_tokens():
    processor = QwenImages({}, {"max_pixels": 28 * 28 * 2560})
    large = image(1500, 900)
    assert processor.prepare(large, "low", alone=True).num_tokens < 350
    assert processor.prepare(large, "high", alone=True).num_tokens > 1200
