"""A folder of the whole Llama 4 is served for text: what sees is left out, and nothing else."""

from __future__ import annotations

import torch
import transformers

from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import FAMILIES, PROMPTS, SIZES, reference_answer

VISION = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
    "vision_output_dim": 32,
    "projector_input_dim": 32,
    "projector_output_dim": 32,
}


def test_folder_with_a_vision_tower_gives_the_same_text(tmp_path):
    _, extra = FAMILIES["llama4"]
    torch.manual_seed(3)
    config = transformers.Llama4Config(text_config=SIZES | extra, vision_config=VISION)
    reference = transformers.Llama4ForConditionalGeneration(config).float().eval()
    reference.save_pretrained(tmp_path)
    driver = make_driver(tmp_path)
    ids = [driver.add(prompt, greedy(max_tokens=8, ignore_eos=True)) for prompt in PROMPTS]
    tokens = driver.run()
    for i, prompt in zip(ids, PROMPTS, strict=True):
        assert tokens[i] == reference_answer(reference, prompt, 8, tokens[i])
