"""Writes what `safety` reads: files of arrays, and the card beside them."""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from safety.score.artefacts import CARD_FILE
from safety.score.artefacts import card as shipped_card


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """`arrays` as one file; the same bytes for the same content. Not compressed: every process that
    starts would pay for it, and the file is two thirds as large."""
    buffer = io.BytesIO()
    np.savez(buffer, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return buffer.getvalue()


def digests_of(files: Mapping[Path, bytes]) -> dict[str, str]:
    return {path.name: hashlib.sha256(data).hexdigest() for path, data in files.items()}


def write(files: Mapping[Path, bytes], card: Mapping[str, Any]) -> None:
    """Store the trained files and the card that names them. What else it names stays in it: the
    head for untrusted content, which is fitted by itself and anew after each encoder."""
    for path, data in files.items():
        path.write_bytes(data)
    before = shipped_card()
    content = {**before, **card, "files": {**before["files"], **digests_of(files)}}
    CARD_FILE.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
