"""Llama 4's text: layers that attend within chunks, every so many one that sees all and turns
nothing, and a mixture of experts beside one that every token goes to.

What looks at images in a folder is left out: such a model is served for text.
Source: Meta 2025, the Llama 4 model cards; Nakanishi 2025 (scores by position).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.errors import ModelLoadError
from inference.kernels.backend import Backend
from inference.kernels.batch import LayerCache
from inference.model.architecture import Loader, Split, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig, MoeConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import split_heads
from inference.model.layers.experts import WithShared
from inference.model.layers.linear import Linear
from inference.model.layers.mlp import Mlp, SwiGLU
from inference.model.layers.normed_branches import BranchNorms, NormedBranchesLayer
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step
from inference.model.reading import gguf, hf

_FULL_EVERY = 4
"""In GGUF files, which say neither: so many layers are one that sees all and turns nothing."""
_CHUNK = 8192
"""In GGUF files too: of attention, and of the growth of scores."""
_EXPERTS_WITHOUT_HEAD_NORMS = 128
"""How GGUF files tell Maverick, whose queries and keys are not normed, from Scout."""


@dataclass(frozen=True)
class Llama4Config(ModelConfig):
    unrotated: frozenset[int] = frozenset()
    """Layers without positions."""
    chunked: frozenset[int] = frozenset()
    """Layers that attend within chunks."""
    chunk: int = 0
    sparse: frozenset[int] = frozenset()
    """Layers with experts."""
    has_head_norms: bool = False
    """Whether queries and keys of layers that turn are normed, without weights."""
    scaled_from: int | None = None
    """Scores of layers without positions grow with every so many tokens; None: they do not."""
    score_growth: float = 0.0

    @property
    def reach(self) -> dict[int, int]:
        return dict.fromkeys(self.chunked, self.chunk)


@dataclass(frozen=True)
class Llama4Attention:
    backend: Backend
    config: Llama4Config
    rotary: Rotary
    qkv: Linear
    out: Linear
    turns: bool
    chunk: int | None
    waits_for_device = True  # for where chunks begin

    def __call__(self, x: Tensor, cache: LayerCache, step: Step) -> Tensor:
        config, ops = self.config, self.backend
        qkv = self._prepared(self.qkv(x).view(len(x), -1, config.head_dim), step)
        angles = step.angles(self.rotary)
        queries = ops.rotate_and_cache(qkv, config.num_kv_heads, angles, cache, step.batch)
        batch = step.batch if self.chunk is None else step.in_chunks(self.chunk)
        return self.out(ops.attend(queries, cache, batch).reshape(len(x), -1))

    def _prepared(self, qkv: Tensor, step: Step) -> Tensor:
        """Heads before the rotation, which changes no norm."""
        config = self.config
        queries, keys, values = split_heads(qkv, config)
        if self.turns and config.has_head_norms:
            shape = (config.head_dim,)
            queries = F.rms_norm(queries, shape, None, config.rms_eps)
            keys = F.rms_norm(keys, shape, None, config.rms_eps)
            return torch.cat((queries, keys, values), dim=1)
        if not self.turns and config.scaled_from is not None:
            passed = (step.batch.positions + 1) // config.scaled_from
            scale = passed.float().log1p() * config.score_growth + 1
            queries *= scale[:, None, None].to(queries.dtype)
        return qkv


def _config(load: Loader) -> Llama4Config:
    assert isinstance(load.config, Llama4Config)
    return load.config


def _layer(load: Loader, index: int) -> NormedBranchesLayer:
    at, config = f"layers.{index}", _config(load)
    turns = index not in config.unrotated
    attention = Llama4Attention(
        load.backend,
        config,
        load.rotary(config.rope if turns else RopeConfig(kind="none")),
        qkv=load.linear(f"{at}.attn.q", f"{at}.attn.k", f"{at}.attn.v"),
        out=load.linear(f"{at}.attn.o"),
        turns=turns,
        chunk=config.chunk if index in config.chunked else None,
    )
    mlp = _mixture(load, at) if index in config.sparse else llama.swiglu(load, index)
    norms = (BranchNorms(before=load.tensor(f"{at}.{part}_norm")) for part in ("attn", "mlp"))
    attn_norms, mlp_norms = norms
    return NormedBranchesLayer(load.backend, config.rms_eps, attention, attn_norms, mlp, mlp_norms)


def _mixture(load: Loader, at: str) -> Mlp:
    assert load.config.moe is not None
    gate_up = load.linear(f"{at}.shared.gate", f"{at}.shared.up")
    shared = SwiGLU(load.backend, gate_up, load.linear(f"{at}.shared.down"))
    return WithShared(load.experts(at, load.config.moe), shared)


def _read_hf(raw: Mapping[str, Any]) -> Llama4Config:
    text = hf.text_of(raw)
    layers = range(text["num_hidden_layers"])
    interval = text.get("no_rope_layer_interval") or 4
    turning = text.get("no_rope_layers") or [(index + 1) % interval for index in layers]
    types = text.get("layer_types") or [
        "chunked_attention" if turns else "full_attention" for turns in turning
    ]
    size = text.get("attention_chunk_size")
    every = text.get("interleave_moe_layer_step") or 1
    sparse = text.get("moe_layers")
    moe = _moe(text["num_local_experts"], text["num_experts_per_tok"])
    return Llama4Config.of(
        replace(hf.decoder_config("llama4", text), moe=moe),
        unrotated=frozenset(index for index in layers if not turning[index]),
        chunked=frozenset(i for i in layers if size and types[i] == "chunked_attention"),
        chunk=size or 0,
        sparse=frozenset(range(every - 1, len(layers), every) if sparse is None else sparse),
        has_head_norms=text.get("use_qk_norm", True),
        scaled_from=text["floor_scale"] if text.get("attn_temperature_tuning", True) else None,
        score_growth=text.get("attn_scale", 0.1),
    )


def _read_gguf(file: GGUFFile) -> ModelConfig:
    """What llama.cpp knows by the name and by the number of experts stands above as constants."""
    data = gguf.Metadata(file)
    period = data.get("attention.sliding_window_pattern", _FULL_EVERY)
    if data.get("attention.sliding_window") == 0 or period != _FULL_EVERY:
        raise ModelLoadError("a Llama 4 with other layers than the published ones is not read")
    num_experts, every = data.need("expert_count"), data.need("interleave_moe_layer_step")
    plain = gguf.decoder_config(
        "llama4", file, moe=_moe(num_experts, data.need("expert_used_count"))
    )
    full = frozenset(range(_FULL_EVERY - 1, plain.num_layers, _FULL_EVERY))
    return Llama4Config.of(
        plain,
        unrotated=full,
        chunked=frozenset(range(plain.num_layers)) - full,
        chunk=_CHUNK,
        sparse=frozenset(range(every - 1, plain.num_layers, every)),
        has_head_norms=num_experts != _EXPERTS_WITHOUT_HEAD_NORMS,
        scaled_from=_CHUNK,
        score_growth=0.1,
    )


def _moe(num_experts: int, per_token: int) -> MoeConfig:
    return MoeConfig(num_experts, per_token, normalise=False, scores="sigmoid", weighs_input=True)


def _queries(rows: Tensor, config: ModelConfig) -> Tensor:
    return llama.in_halves(rows, config.num_heads)


def _keys(rows: Tensor, config: ModelConfig) -> Tensor:
    return llama.in_halves(rows, config.num_kv_heads)


def _gates(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[: len(rows) // 2].contiguous()


def _ups(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[len(rows) // 2 :].contiguous()


def _of_experts(name: str, gguf_name: str, **given: Any) -> Weight:
    """A part of a tensor of all experts, which folders have as (experts, in, out)."""
    hf_name = f"model.layers.*.feed_forward.experts.{name}[*]"
    return Weight(hf_name, gguf_name, hf_suffixes=("", "_bias"), hf_turned=True, **given)


_MLP, _ATTENTION = "model.layers.*.feed_forward", "model.layers.*.self_attn"
_SHARED = f"{_MLP}.shared_expert"
_WEIGHTS = {
    "layers.*.attn.q": Weight(
        f"{_ATTENTION}.q_proj", "blk.*.attn_q", Split.ROWS, _queries, _queries
    ),
    "layers.*.attn.k": Weight(f"{_ATTENTION}.k_proj", "blk.*.attn_k", Split.ROWS, _keys, _keys),
    "layers.*.mlp.gate": Weight(f"{_MLP}.gate_proj", "blk.*.ffn_gate", Split.ROWS),
    "layers.*.mlp.up": Weight(f"{_MLP}.up_proj", "blk.*.ffn_up", Split.ROWS),
    "layers.*.mlp.down": Weight(f"{_MLP}.down_proj", "blk.*.ffn_down", Split.COLUMNS),
    "layers.*.shared.gate": Weight(f"{_SHARED}.gate_proj", "blk.*.ffn_gate_shexp", Split.ROWS),
    "layers.*.shared.up": Weight(f"{_SHARED}.up_proj", "blk.*.ffn_up_shexp", Split.ROWS),
    "layers.*.shared.down": Weight(f"{_SHARED}.down_proj", "blk.*.ffn_down_shexp", Split.COLUMNS),
    "layers.*.router": Weight(f"{_MLP}.router", "blk.*.ffn_gate_inp"),
    "layers.*.experts.*.gate": _of_experts(
        "gate_up_proj", "blk.*.ffn_gate_exps[*]", hf_rows=_gates
    ),
    "layers.*.experts.*.up": _of_experts("gate_up_proj", "blk.*.ffn_up_exps[*]", hf_rows=_ups),
    "layers.*.experts.*.down": _of_experts("down_proj", "blk.*.ffn_down_exps[*]"),
}
LLAMA4 = replace(
    llama.LLAMA,
    name="llama4",
    hf="Llama4ForCausalLM",
    gguf="llama4",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | _WEIGHTS,
    layer=_layer,
)
_EYES = "vision_model"
_EYE_LAYER = f"{_EYES}.model.layers.*"
LLAMA4_VL = replace(
    LLAMA4,
    hf="Llama4ForConditionalGeneration",
    gguf=None,
    hf_aliases=(("language_model.", ""),),
    ignored=(
        *LLAMA4.ignored,
        "multi_modal_projector.linear_1.weight",
        f"{_EYES}.class_embedding",
        f"{_EYES}.positional_embedding_vlm",
        f"{_EYES}.patch_embedding.linear.weight",
        *(f"{_EYES}.vision_adapter.mlp.fc*.{kind}" for kind in ("weight", "bias")),
        *(
            f"{_EYES}.{name}.{kind}"
            for name in ("layernorm_pre", "layernorm_post")
            for kind in ("weight", "bias")
        ),
        *(
            f"{_EYE_LAYER}.{name}.{kind}"
            for name in (
                *("input_layernorm", "post_attention_layernorm", "mlp.fc*"),
                *(f"self_attn.{which}_proj" for which in "qkvo"),
            )
            for kind in ("weight", "bias")
        ),
    ),
)
"""Folders of the whole model, of which the text is served."""
