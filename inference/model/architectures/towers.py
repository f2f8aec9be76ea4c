"""What the files of families with a vision tower share: names of tensors, and SigLIP's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.errors import ModelLoadError
from inference.model.architecture import Loader, Weight
from inference.model.layers.linear import DenseLinear
from inference.model.vision.attention import PatchAttention
from inference.model.vision.siglip import LayerNorm, Siglip, SiglipBlock

NO_GGUF = "-"
"""Of tensors that are read from folders only."""
_ACTIVATION = "gelu_pytorch_tanh"


def dense(load: Loader, name: str) -> DenseLinear:
    """A matrix as it is, or a convolution over patches as one."""
    bias = load.tensor(f"{name}:bias") if load.has(f"{name}:bias") else None
    return DenseLinear(load.tensor(name).flatten(1), bias)


def under(weights: Mapping[str, Weight], model: str, head: str) -> dict[str, Weight]:
    """A decoder's tensors where folders have them elsewhere than at `model.` and `lm_head`."""
    moved = {}
    for ours, weight in weights.items():
        name = weight.hf.replace("model.", model, 1) if weight.hf != "lm_head" else head
        moved[ours] = replace(weight, hf=name)
    return moved


_PARTS = {
    "patch": "embeddings.patch_embedding",
    "positions": "embeddings.position_embedding",
    "norm": "post_layernorm",
    "blocks.*.norm1": "encoder.layers.*.layer_norm1",
    "blocks.*.norm2": "encoder.layers.*.layer_norm2",
    "blocks.*.q": "encoder.layers.*.self_attn.q_proj",
    "blocks.*.k": "encoder.layers.*.self_attn.k_proj",
    "blocks.*.v": "encoder.layers.*.self_attn.v_proj",
    "blocks.*.out": "encoder.layers.*.self_attn.out_proj",
    "blocks.*.inner": "encoder.layers.*.mlp.fc1",
    "blocks.*.outer": "encoder.layers.*.mlp.fc2",
}
_HEAD = (
    "probe",
    *(f"attention.{name}" for name in ("in_proj_weight", "in_proj_bias")),
    *(
        f"{part}.{kind}"
        for part in ("attention.out_proj", "layernorm", "mlp.fc1", "mlp.fc2")
        for kind in ("weight", "bias")
    ),
)


def siglip_weights(prefix: str) -> dict[str, Weight]:
    """SigLIP's tensors at `visual.` in our names."""
    return {f"visual.{ours}": Weight(prefix + name, NO_GGUF) for ours, name in _PARTS.items()}


def siglip_head(prefix: str) -> tuple[str, ...]:
    """Tensors that make one vector of an image: no decoder has a use for them."""
    return tuple(f"{prefix}head.{name}" for name in _HEAD)


def siglip(load: Loader, raw: Mapping[str, Any], layer: int | None = None) -> Siglip:
    """The tower of a `vision_config`.

    Args:
        layer: whose states are taken, counted from the end and without the norm; None: the last
            one's, normed.
    Raises:
        ModelLoadError: when it is of another kind.
    """
    if (found := raw.get("hidden_act", _ACTIVATION)) != _ACTIVATION:
        raise ModelLoadError(f"hidden_act {found!r} of the vision tower is not implemented")
    eps, heads = raw.get("layer_norm_eps", 1e-6), raw["num_attention_heads"]
    num_layers = raw["num_hidden_layers"]
    wanted = num_layers if layer is None else num_layers + 1 + layer

    def norm(name: str) -> LayerNorm:
        return LayerNorm(load.tensor(name), load.tensor(f"{name}:bias"), eps)

    def block(index: int) -> SiglipBlock:
        at = f"visual.blocks.{index}"
        qkv = load.linear(f"{at}.q", f"{at}.k", f"{at}.v")
        return SiglipBlock(
            norm(f"{at}.norm1"),
            PatchAttention(qkv, load.linear(f"{at}.out"), heads),
            norm(f"{at}.norm2"),
            load.linear(f"{at}.inner"),
            load.linear(f"{at}.outer"),
        )

    return Siglip(
        raw["patch_size"],
        dense(load, "visual.patch"),
        load.tensor("visual.positions"),
        tuple(block(index) for index in range(wanted)),
        norm("visual.norm") if layer is None else None,
    )
