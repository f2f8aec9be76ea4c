"""Gemma 3 that sees, against transformers, on a tiny model with random weights.

The tokens of an image attend to one another, in layers with a window too, so chunks of 11 tokens
must not end among its 16.
"""

from __future__ import annotations

import torch
import transformers
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil

from tests.inference.conftest import greedy, make_driver
from tests.inference.sample_images import processor_of, random_weights, reference, shown
from tests.inference.seeing import image
from tests.inference.test_idefics3 import TEXT, TOKEN, VISION

IMAGES = [image(80, 130, 1), image(150, 60, 2)]


def test_same_greedy_tokens_as_transformers(tmp_path):
    torch.manual_seed(8)
    side = 56
    text = {
        **TEXT,
        "model_type": "gemma3_text",
        "head_dim": 16,
        "num_hidden_layers": 3,
        "sliding_window": 13,
        "sliding_window_pattern": 2,
        "query_pre_attn_scalar": 16,
    }
    config = transformers.Gemma3Config(
        text_config=text,
        vision_config={**VISION, "model_type": "siglip_vision_model", "image_size": side},
        mm_tokens_per_image=16,
        image_token_index=TOKEN,
        initializer_range=0.15,
    )
    known = random_weights(transformers.Gemma3ForConditionalGeneration(config))
    with torch.no_grad():
        known.model.multi_modal_projector.mm_input_projection_weight.normal_(std=0.3)
    known.save_pretrained(tmp_path)
    pil = Gemma3ImageProcessorPil(size={"height": side, "width": side})
    pil.save_pretrained(tmp_path)
    processor = processor_of(tmp_path)
    prepared = [processor.prepare(one, "auto", alone=False) for one in IMAGES]
    ids, images = shown([5, 6, 7], prepared, [8, 9, 10], TOKEN)
    inputs = pil(images=IMAGES, return_tensors="pt")
    inputs.pop("num_crops", None)
    kinds = torch.tensor([[int(token == TOKEN) for token in ids]])
    wanted = reference(known, ids, 12, token_type_ids=kinds, **inputs)
    driver = make_driver(tmp_path, max_num_batched_tokens=11, mixed_step_tokens=11)
    sampling = greedy(max_tokens=12, ignore_eos=True)
    both = [driver.add(ids, sampling, images=images) for _ in range(2)]
    driver.run()
    cached = driver.add(ids, sampling, images=images)
    tokens = driver.run()
    assert [tokens[one] for one in (*both, cached)] == [wanted] * 3
    assert driver.cached[cached] == 32
