"""What a folder says of its image processor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def image_settings(folder: Path) -> dict[str, Any]:
    """`preprocessor_config.json`, or its part of `processor_config.json`; nothing where there is
    neither."""
    plain, joined = folder / "preprocessor_config.json", folder / "processor_config.json"
    if plain.exists():
        found: dict[str, Any] = json.loads(plain.read_text())
        return found
    if joined.exists():
        part: dict[str, Any] = json.loads(joined.read_text()).get("image_processor") or {}
        return part
    return {}
