"""Every family and file format against transformers, on tiny models with random weights.

Prompts are longer than the window and the original context, chunks shorter than either,
so that rotary scaling and sliding windows matter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from inference.errors import ModelLoadError
from inference.model.build import build_model
from inference.model.files.open import open_weights
from tests.inference.conftest import greedy, make_driver

SIZES: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "initializer_range": 0.15,
}
ROPE: dict[str, Any] = {"rope_theta": 5000.0, "original_max_position_embeddings": 32, "factor": 4.0}
PLAIN_ROPE: dict[str, Any] = {"rope_type": "default", "rope_theta": 5000.0}
LATENT: dict[str, Any] = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 48,
    "q_lora_rank": 40,
    "qk_nope_head_dim": 24,
    "qk_rope_head_dim": 16,
    "v_head_dim": 20,
    "first_k_dense_replace": 1,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 2,
    "n_group": 4,
    "topk_group": 2,
    "moe_intermediate_size": 32,
    "routed_scaling_factor": 1.7,
}
MAMBA: dict[str, Any] = {
    "pad_token_id": 0,
    "mamba_d_ssm": 96,
    "mamba_n_heads": 6,
    "mamba_d_head": 16,
    "mamba_n_groups": 2,
    "mamba_d_state": 24,
    "mamba_chunk_size": 16,
}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "llama4": (
        "Llama4",
        {
            "pad_token_id": 0,
            "head_dim": 32,
            "intermediate_size_mlp": 80,
            "num_hidden_layers": 4,
            "num_local_experts": 6,
            "num_experts_per_tok": 2,
            "attention_chunk_size": 16,
            "floor_scale": 12,
            "attn_scale": 0.5,
            "rope_parameters": ROPE
            | {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        },
    ),
    "llama4-mixed": (
        "Llama4",
        {
            "pad_token_id": 0,
            "head_dim": 32,
            "intermediate_size_mlp": 80,
            "num_local_experts": 4,
            "interleave_moe_layer_step": 2,
            "no_rope_layers": [1, 1, 0],
            "attention_chunk_size": 11,
            "use_qk_norm": False,
            "attn_temperature_tuning": False,
            "rope_parameters": PLAIN_ROPE,
        },
    ),
    "llama-tied": ("Llama", {"tie_word_embeddings": True}),
    "llama-attention-bias": ("Llama", {"attention_bias": True}),
    "llama-odd-head": ("Llama", {"head_dim": 24}),
    "llama-linear": ("Llama", {"rope_parameters": ROPE | {"rope_type": "linear"}}),
    "llama3": (
        "Llama",
        {
            "rope_parameters": ROPE
            | {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
        },
    ),
    "llama-yarn": ("Llama", {"rope_parameters": ROPE | {"rope_type": "yarn"}}),
    "gemma2": (
        "Gemma2",
        {
            "sliding_window": 9,
            "head_dim": 32,
            "query_pre_attn_scalar": 16,
            "attn_logit_softcapping": 5.0,
            "final_logit_softcapping": 10.0,
            "tie_word_embeddings": True,
        },
    ),
    "gemma3": (
        "Gemma3",
        {
            "sliding_window": 9,
            "sliding_window_pattern": 2,
            "head_dim": 32,
            "query_pre_attn_scalar": 16,
            "tie_word_embeddings": True,
        },
    ),
    "gpt-oss": (
        "GptOss",
        {
            "head_dim": 32,
            "sliding_window": 9,
            "num_local_experts": 6,
            "num_experts_per_tok": 2,
            "rope_parameters": ROPE | {"rope_type": "yarn", "truncate": False},
        },
    ),
    "granite": (
        "Granite",
        {
            "embedding_multiplier": 3.0,
            "attention_multiplier": 0.1,
            "residual_multiplier": 0.4,
            "logits_scaling": 2.0,
        },
    ),
    "olmo2": ("Olmo2", {}),
    "phi3": ("Phi3", {"sliding_window": 9, "pad_token_id": 0}),
    "phi3-part": (
        "Phi3",
        {"pad_token_id": 0, "rope_parameters": PLAIN_ROPE | {"partial_rotary_factor": 0.75}},
    ),
    "phi3-long": (
        "Phi3",
        {
            "pad_token_id": 0,
            "original_max_position_embeddings": 4,
            "rope_parameters": PLAIN_ROPE
            | {
                "rope_type": "longrope",
                "original_max_position_embeddings": 4,
                "partial_rotary_factor": 0.75,
                "short_factor": [1.0] * 6,
                "long_factor": [1.0 + i / 3 for i in range(6)],
            },
        },
    ),
    "mistral": ("Mistral", {"sliding_window": 9}),
    "qwen2": ("Qwen2", {}),
    "qwen2-window": (
        "Qwen2",
        {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1},
    ),
    "smollm3": ("SmolLM3", {"no_rope_layer_interval": 2, "pad_token_id": 0}),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "mixtral": (
        "Mixtral",
        {"num_local_experts": 6, "num_experts_per_tok": 2, "sliding_window": 9},
    ),
    "qwen2-moe": (
        "Qwen2Moe",
        {
            "num_experts": 6,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 48,
            "shared_expert_intermediate_size": 80,
        },
    ),
    "deepseek-v2": (
        "DeepseekV2",
        LATENT
        | {
            "q_lora_rank": None,
            "topk_method": "group_limited_greedy",
            "rope_parameters": ROPE | {"rope_type": "yarn", "mscale": 0.7, "mscale_all_dim": 1.2},
        },
    ),
    "deepseek-v3": ("DeepseekV3", LATENT | {"norm_topk_prob": True}),
    "falcon-h1": (
        "FalconH1",
        MAMBA
        | {
            "embedding_multiplier": 3.0,
            "lm_head_multiplier": 0.5,
            "attention_in_multiplier": 0.8,
            "attention_out_multiplier": 0.7,
            "key_multiplier": 1.3,
            "ssm_in_multiplier": 1.2,
            "ssm_out_multiplier": 0.6,
            "ssm_multipliers": [0.9, 1.1, 0.8, 1.2, 0.7],
            "mlp_multipliers": [1.4, 0.6],
        },
    ),
    "falcon-h1-norm": (
        "FalconH1",
        MAMBA
        | {
            "mamba_rms_norm": True,
            "mamba_norm_before_gate": False,
            "mamba_proj_bias": True,
            "projectors_bias": True,
            "time_step_limit": (0.2, 1.5),
        },
    ),
    "qwen3-moe": (
        "Qwen3Moe",
        {
            "num_experts": 6,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 48,
            "norm_topk_prob": True,
            "head_dim": 16,
        },
    ),
}
PROMPTS = [
    [(7 * i + 3 * j * j) % 120 + 3 for j in range(length)] for i, length in enumerate((50, 5))
]


def make_folder(
    family: str, folder: Path, shard_size: str = "60KB", **changes
) -> transformers.PreTrainedModel:
    """A random model of the family, saved in several shards; `changes` are of its sizes."""
    name, extra = FAMILIES[family]
    kind = getattr(transformers, f"{name}ForCausalLM")
    torch.manual_seed(7)
    model = kind(kind.config_class(**(SIZES | extra | changes))).float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:  # norms and biases start as ones and zeros
                parameter.add_(torch.randn_like(parameter) * 0.2)
        for name, buffer in model.named_buffers():
            if name.endswith("correction_bias"):
                buffer.add_(torch.randn_like(buffer) * 0.2)
    model.save_pretrained(folder, max_shard_size=shard_size)
    return model


def reference_answer(
    model, prompt: list[int], count: int, answered: Sequence[int] = ()
) -> list[int]:
    """The model's greedy answer.

    Args:
        answered: what may be this answer. Whether it is, one pass tells: where each of its tokens
            is the likeliest after those before it. If it is not, the answer is computed by itself.
    """
    tokens = list(prompt)
    with torch.inference_mode():
        if len(answered) == count:
            logits = model(torch.tensor([[*prompt, *answered]])).logits[0]
            if logits[len(prompt) - 1 : -1].argmax(-1).tolist() == list(answered):
                return list(answered)
        for _ in range(count):
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens[len(prompt) :]


@pytest.mark.parametrize("family", FAMILIES)
def test_same_greedy_tokens_as_transformers(family, tmp_path):
    reference = make_folder(family, tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    driver = make_driver(tmp_path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    for i, prompt in zip(ids, PROMPTS, strict=True):
        assert tokens[i] == reference_answer(reference, prompt, 12, tokens[i])


@pytest.mark.parametrize("family", FAMILIES)
def test_same_distribution_as_transformers(family, tmp_path):
    reference = make_folder(family, tmp_path)
    driver = make_driver(tmp_path)
    [prompt, _] = PROMPTS
    driver.add(prompt, greedy(max_tokens=1, logprobs=SIZES["vocab_size"]))
    [output] = driver.core.step()
    assert output.logprobs is not None
    [found] = output.logprobs
    with torch.inference_mode():
        wanted = reference(torch.tensor([prompt])).logits[0, -1].log_softmax(-1)
    torch.testing.assert_close(
        torch.tensor(found.top_logprobs), wanted[found.top_token_ids], rtol=1e-3, atol=1e-3
    )


def test_unknown_architecture_is_refused_by_name(tmp_path):
    (tmp_path / "config.json").write_text('{"architectures": ["GPT2LMHeadModel"]}')
    with pytest.raises(ModelLoadError, match="GPT2LMHeadModel"):
        open_weights(str(tmp_path))


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"quantization_config": {"quant_method": "hqq"}}, "quantization_config.*hqq"),
        ({"compression_config": {"quant_method": "compressed-tensors"}}, "compressed-tensors"),
        ({"hidden_act": "gelu"}, "gelu"),
    ],
)
def test_configuration_that_cannot_be_honoured_is_refused_by_name(entry, reason, tmp_path):
    make_folder("llama", tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | entry))
    with pytest.raises(ModelLoadError, match=reason):
        open_weights(str(tmp_path))


@pytest.mark.parametrize("sharded", [True, False])
def test_weights_of_another_tool_beside_the_models_are_not_read(sharded, tmp_path):
    """As Mistral's own checkpoint lies in its folders."""
    reference = make_folder("mistral", tmp_path, "60KB" if sharded else "1GB")
    save_file({"layers.0.wq.weight": torch.ones(3)}, tmp_path / "consolidated.safetensors")
    driver = make_driver(tmp_path)
    tokens = driver.generate(PROMPTS[1], greedy(max_tokens=4, ignore_eos=True))
    assert tokens == reference_answer(reference, PROMPTS[1], 4, tokens)


def test_tensor_that_the_family_does_not_have_is_refused_by_name(tmp_path):
    make_folder("llama", tmp_path, "1GB")
    file = tmp_path / "model.safetensors"
    scales = {"model.layers.0.mlp.up_proj.weight_scale": torch.ones(3)}
    save_file(load_file(file) | scales, file, metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=r"model\.layers\.0\.mlp\.up_proj\.weight_scale"):
        open_weights(str(tmp_path))


def test_missing_tensor_is_refused_by_name(tmp_path):
    make_folder("llama", tmp_path)
    next(tmp_path.glob("*-of-*.safetensors")).unlink()
    with pytest.raises(ModelLoadError, match="no tensor"):
        build_model(open_weights(str(tmp_path)), torch.float32, torch.device("cpu"))
