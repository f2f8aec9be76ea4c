"""A model that sees, of random weights, and small images for it: made without torch and
transformers, whose import costs a run of tests six seconds. That such weights are read as
transformers reads them: test_qwen2_5_vl.py."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from safetensors.numpy import save_file

from tests.inference.byte_tokenizer import byte_tokenizer

_TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: "
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}{% endfor %}"
    "{% endif %}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
_SPECIAL = ("<|end|>", "<|vision_start|>", "<|image_pad|>", "<|vision_end|>")
_WIDTH, _HIDDEN, _KEYS, _LAYERS = 64, 96, 32, 2
_SEEN_WIDTH, _SEEN_HIDDEN, _SEEN_LAYERS = 32, 48, 3
_TEXT = {
    "model_type": "qwen2_5_vl_text",
    "hidden_size": _WIDTH,
    "intermediate_size": _HIDDEN,
    "num_hidden_layers": _LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0, "mrope_section": [2, 3, 3]},
}
_VISION = {
    "model_type": "qwen2_5_vl_vision",
    "depth": _SEEN_LAYERS,
    "hidden_size": _SEEN_WIDTH,
    "intermediate_size": _SEEN_HIDDEN,
    "num_heads": 2,
    "out_hidden_size": _WIDTH,
    "hidden_act": "silu",
    "in_channels": 3,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "window_size": 56,
    "fullatt_block_indexes": [1],
    "rope_parameters": {"rope_type": "axial", "rope_theta": 10_000.0},
}
_PROCESSOR = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "do_convert_rgb": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "merge_size": 2,
    "patch_size": 14,
    "resample": 3,
    "rescale_factor": 1 / 255,
    "size": {"longest_edge": 200 * 200, "shortest_edge": 56 * 56},
    "temporal_patch_size": 2,
}


def image(height: int, width: int, seed: int = 0) -> Image.Image:
    """Smooth colours, as photographs have: of noise alone, resizing leaves nothing."""
    coarse = np.random.default_rng(seed).integers(0, 256, (5, 6, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


def data_url(image: Image.Image, form: str = "PNG") -> str:
    target = io.BytesIO()
    image.save(target, form)
    return f"data:image/{form.lower()};base64,{base64.b64encode(target.getvalue()).decode()}"


def make_seeing(folder: Path) -> None:
    """A Qwen2.5-VL in `folder`, with a tokenizer of bytes and a chat template."""
    tokenizer = byte_tokenizer(*_SPECIAL)
    vocab_size = tokenizer.get_vocab_size()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(_TEMPLATE)
    config = {
        "architectures": ["Qwen2_5_VLForConditionalGeneration"],
        "model_type": "qwen2_5_vl",
        "dtype": "float32",
        "image_token_id": tokenizer.token_to_id("<|image_pad|>"),
        "tie_word_embeddings": False,
        "text_config": {**_TEXT, "vocab_size": vocab_size},
        "vision_config": _VISION,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 2}))
    (folder / "preprocessor_config.json").write_text(json.dumps(_PROCESSOR))
    random = np.random.default_rng(3)
    weights = {}
    for name, shape in _shapes(vocab_size):
        values = random.standard_normal(shape, dtype=np.float32)
        is_norm = len(shape) == 1 and not name.endswith("bias")
        weights[name] = 1 + 0.2 * values if is_norm else 0.15 * values
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _shapes(vocab_size: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Of each tensor, as transformers names them."""
    yield "lm_head.weight", (vocab_size, _WIDTH)
    yield "model.embed_tokens.weight", (vocab_size, _WIDTH)
    yield "model.norm.weight", (_WIDTH,)
    for layer in range(_LAYERS):
        at = f"model.layers.{layer}"
        yield f"{at}.input_layernorm.weight", (_WIDTH,)
        yield f"{at}.post_attention_layernorm.weight", (_WIDTH,)
        for name, rows in (("q", _WIDTH), ("k", _KEYS), ("v", _KEYS)):
            yield from _linear(f"{at}.self_attn.{name}_proj", rows, _WIDTH)
        yield f"{at}.self_attn.o_proj.weight", (_WIDTH, _WIDTH)
        yield f"{at}.mlp.gate_proj.weight", (_HIDDEN, _WIDTH)
        yield f"{at}.mlp.up_proj.weight", (_HIDDEN, _WIDTH)
        yield f"{at}.mlp.down_proj.weight", (_WIDTH, _HIDDEN)
    yield "visual.patch_embed.proj.weight", (_SEEN_WIDTH, 3, 2, 14, 14)
    for block in range(_SEEN_LAYERS):
        at = f"visual.blocks.{block}"
        yield f"{at}.norm1.weight", (_SEEN_WIDTH,)
        yield f"{at}.norm2.weight", (_SEEN_WIDTH,)
        yield from _linear(f"{at}.attn.qkv", 3 * _SEEN_WIDTH, _SEEN_WIDTH)
        yield from _linear(f"{at}.attn.proj", _SEEN_WIDTH, _SEEN_WIDTH)
        yield from _linear(f"{at}.mlp.gate_proj", _SEEN_HIDDEN, _SEEN_WIDTH)
        yield from _linear(f"{at}.mlp.up_proj", _SEEN_HIDDEN, _SEEN_WIDTH)
        yield from _linear(f"{at}.mlp.down_proj", _SEEN_WIDTH, _SEEN_HIDDEN)
    merged = 4 * _SEEN_WIDTH
    yield "visual.merger.ln_q.weight", (_SEEN_WIDTH,)
    yield from _linear("visual.merger.mlp.0", merged, merged)
    yield from _linear("visual.merger.mlp.2", _WIDTH, merged)


def _linear(name: str, rows: int, columns: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", (rows, columns)
    yield f"{name}.bias", (rows,)
