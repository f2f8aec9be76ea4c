"""The architectures that are implemented: a line for each, a file for each in `architectures/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inference.errors import ModelLoadError
from inference.model.architecture import Architecture
from inference.model.architectures.bert import BERT
from inference.model.architectures.deepseek import DEEPSEEK_V2, DEEPSEEK_V3
from inference.model.architectures.falcon_h1 import FALCON_H1
from inference.model.architectures.gemma2 import GEMMA2
from inference.model.architectures.gemma3 import GEMMA3
from inference.model.architectures.gemma3_vl import GEMMA3_VL
from inference.model.architectures.gpt_oss import GPT_OSS
from inference.model.architectures.granite import GRANITE
from inference.model.architectures.idefics3 import IDEFICS3, SMOLVLM
from inference.model.architectures.llama import LLAMA
from inference.model.architectures.llama4 import LLAMA4, LLAMA4_VL
from inference.model.architectures.llava_onevision import LLAVA_ONEVISION
from inference.model.architectures.mistral import MISTRAL
from inference.model.architectures.mixtral import MIXTRAL
from inference.model.architectures.olmo2 import OLMO2
from inference.model.architectures.phi3 import PHI3
from inference.model.architectures.qwen2 import QWEN2
from inference.model.architectures.qwen2_5_vl import QWEN2_5_VL
from inference.model.architectures.qwen2_moe import QWEN2_MOE
from inference.model.architectures.qwen3 import QWEN3
from inference.model.architectures.qwen3_moe import QWEN3_MOE
from inference.model.architectures.smollm3 import SMOLLM3

ARCHITECTURES: list[Architecture] = [
    BERT,
    DEEPSEEK_V2,
    DEEPSEEK_V3,
    FALCON_H1,
    GEMMA2,
    GEMMA3,
    GEMMA3_VL,
    GPT_OSS,
    GRANITE,
    IDEFICS3,
    LLAMA,
    LLAMA4,
    LLAMA4_VL,
    LLAVA_ONEVISION,
    MISTRAL,
    MIXTRAL,
    OLMO2,
    PHI3,
    QWEN2,
    QWEN2_5_VL,
    QWEN2_MOE,
    QWEN3,
    QWEN3_MOE,
    SMOLLM3,
    SMOLVLM,
]


def of_hf(raw: Mapping[str, Any]) -> Architecture:
    """The architecture of a config.json.

    Raises:
        ModelLoadError: when it is not implemented.
    """
    name = (raw.get("architectures") or ["none"])[0]
    for architecture in ARCHITECTURES:
        if architecture.hf == name:
            return architecture
    raise ModelLoadError(f"architecture {name} is not implemented")


def of_gguf(metadata: Mapping[str, Any]) -> Architecture:
    """The architecture of a GGUF file.

    Raises:
        ModelLoadError: when it is not implemented.
    """
    name = metadata.get("general.architecture")
    for architecture in ARCHITECTURES:
        if architecture.gguf == name is not None and architecture.takes_gguf(metadata):
            return architecture
    raise ModelLoadError(f"GGUF architecture {name!r} is not implemented")
