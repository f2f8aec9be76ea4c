"""A GGUF file's numbers as a Hugging Face folder in bfloat16, for programs that read no GGUF."""

from __future__ import annotations

from pathlib import Path

import torch


def bf16_folder(model: Path, cache: Path) -> Path:
    """The folder of the file, made by transformers where it is not there yet; a folder as it is."""
    if model.is_dir():
        return model
    folder = cache / f"{model.stem}-bf16"
    if (folder / "config.json").exists():
        return folder
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    where, file = str(model.parent), model.name
    loaded = AutoModelForCausalLM.from_pretrained(
        where, gguf_file=file, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    AutoTokenizer.from_pretrained(where, gguf_file=file).save_pretrained(folder)
    loaded.save_pretrained(folder)
    return folder
