"""How a model's makers want its chats sampled: what a chat that names nothing gets.

From `generation_config.json` of a Hugging Face folder, or from GGUF's `general.sampling.*`, where
converters write the same values. A model whose files are silent has no defaults: then OpenAI's
hold, or what a pools file says. Text completions are never touched.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inference.errors import ModelLoadError
from inference.model.gguf_format import GGUFFile

log = logging.getLogger(__name__)

ChatDefaults = Mapping[str, float | int]
"""By the names of the request's fields; only what the files say."""

# name of the field -> (GGUF's key, smallest, largest value that a request could name)
_FIELDS: dict[str, tuple[str, float, float]] = {
    "temperature": ("general.sampling.temp", 0.0, 2.0),
    "top_p": ("general.sampling.top_p", 1e-6, 1.0),
    "top_k": ("general.sampling.top_k", 0, 1_000_000),
    "min_p": ("general.sampling.min_p", 0.0, 1.0),
    "repetition_penalty": ("general.sampling.penalty_repeat", 1e-3, 10.0),
}


def load_chat_defaults(path: str) -> ChatDefaults:
    """The defaults of the model at `path`, a GGUF file or a Hugging Face folder.

    A value that no request could name is left out, and logged.

    Raises:
        ModelLoadError: generation_config.json is no JSON object.
    """
    if not Path(path).is_dir():
        metadata = GGUFFile(Path(path), vocabulary=False).metadata
        named = {field: metadata.get(key) for field, (key, _, _) in _FIELDS.items()}
        return _checked(path, named)
    file = Path(path) / "generation_config.json"
    if not file.exists():
        return {}
    try:
        config = json.loads(file.read_text())
    except ValueError as error:
        raise ModelLoadError(f"{file} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise ModelLoadError(f"{file} is no JSON object")
    return _checked(str(file), config)


def _checked(source: str, named: Mapping[str, Any]) -> dict[str, float | int]:
    found: dict[str, float | int] = {}
    for field, (_, smallest, largest) in _FIELDS.items():
        value = named.get(field)
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not smallest <= value <= largest:
            log.warning("%s has %s %r, which is left out", source, field, value)
            continue
        found[field] = int(value) if field == "top_k" else float(value)
    return found
