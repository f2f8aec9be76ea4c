"""Random LoRA adapters in PEFT's files, and the models that they make when they are merged."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def write_adapter(
    folder: Path,
    model: torch.nn.Module,
    *,
    seed: int,
    rank: int = 4,
    targets: tuple[str, ...] = ALL,
    strength: float = 0.5,
    **config: Any,
) -> Path:
    """An adapter of the modules of `model` whose names end so, as `peft` saves it.

    Args:
        strength: what it adds, to what is there, about.
    """
    torch.manual_seed(seed)
    tensors = {}
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and name.endswith(targets):
            rows, width = module.weight.shape
            size = strength * float(module.weight.detach().std())
            down = torch.randn(rank, width) / rank
            tensors[f"base_model.model.{name}.lora_A.weight"] = down
            up = torch.randn(rows, rank) * size * rank**0.5
            tensors[f"base_model.model.{name}.lora_B.weight"] = up
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    raw = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "random",
        "r": rank,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "init_lora_weights": True,
        "target_modules": list(targets),
        "use_dora": False,
        "use_rslora": False,
    }
    (folder / "adapter_config.json").write_text(json.dumps(raw | config))
    return folder


def merged(model: torch.nn.Module, folder: Path) -> torch.nn.Module:
    """A copy of `model` with an adapter in its weights."""
    from safetensors.torch import load_file

    raw = json.loads((folder / "adapter_config.json").read_text())
    scale = raw["lora_alpha"] / (raw["r"] ** 0.5 if raw["use_rslora"] else raw["r"])
    tensors = load_file(folder / "adapter_model.safetensors")
    changed = copy.deepcopy(model)
    modules = dict(changed.named_modules())
    with torch.no_grad():
        for name, up in tensors.items():
            if not name.endswith(".lora_B.weight"):
                continue
            down = tensors[name.replace("lora_B", "lora_A")]
            module = modules[name.removeprefix("base_model.model.").removesuffix(".lora_B.weight")]
            module.weight += scale * up.float() @ down.float()
    return changed
