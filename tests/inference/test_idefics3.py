"""Idefics3 and SmolVLM against transformers, on tiny models with random weights: tiles of a
image that is wider than high, and the whole."""

from __future__ import annotations

import pytest
import torch
import transformers
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

from inference.model.vision.pixels import HALF
from tests.inference.conftest import greedy, make_driver
from tests.inference.sample_images import processor_of, random_weights, reference, shown
from tests.inference.seeing import image

TOKEN = 130
SIDE = 28
IMAGES = [image(150, 90, 1), image(70, 170, 2)]
TEXT = {
    "model_type": "llama",
    "vocab_size": 140,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "initializer_range": 0.15,
}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": 7,
    "initializer_range": 0.15,
}


@pytest.mark.parametrize("family", ["Idefics3", "SmolVLM"])
def test_same_greedy_tokens_as_transformers(family, tmp_path):
    torch.manual_seed(5)
    config = getattr(transformers, f"{family}Config")(
        text_config=TEXT, vision_config=VISION, scale_factor=2, image_token_id=TOKEN
    )
    known = random_weights(getattr(transformers, f"{family}ForConditionalGeneration")(config))
    known.save_pretrained(tmp_path)
    sizes = {"size": {"longest_edge": 3 * SIDE}, "max_image_size": {"longest_edge": SIDE}}
    pil = Idefics3ImageProcessorPil(**sizes)
    pil.save_pretrained(tmp_path)
    processor = processor_of(tmp_path)
    prepared = [processor.prepare(one, "auto", alone=False) for one in IMAGES]
    ids, images = shown([5, 6, 7], prepared, [8, 9, 10], TOKEN)
    inputs = pil(images=[IMAGES], return_tensors="pt", return_row_col_info=True)
    rows, columns = inputs.pop("rows")[0], inputs.pop("cols")[0]
    assert [len(one.parts) for one in prepared] == [
        row * column + 1 for row, column in zip(rows, columns, strict=True)
    ]
    assert prepared[0].text.count(f"<row_{rows[0]}_col_{columns[0]}>") == 1
    found = torch.stack([HALF.crops(one, known.lm_head.weight)[0] for one in images])
    torch.testing.assert_close(found, inputs["pixel_values"][0, : len(images)])

    wanted = reference(known, ids, 12, **inputs)
    driver = make_driver(tmp_path, max_num_batched_tokens=23, mixed_step_tokens=11)
    both = [
        driver.add(ids, greedy(max_tokens=12, ignore_eos=True), images=images) for _ in range(2)
    ]
    tokens = driver.run()
    assert [tokens[one] for one in both] == [wanted] * 2
    assert processor.prepare(IMAGES[0], "low", alone=True).num_tokens == images[0].num_tokens
