"""The trained files in `safety/data` and the card that says what they must be."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"
CARD_FILE = DATA / "classifier.json"


class ModelCorrupt(RuntimeError):
    """A trained file is missing or is not the one that the card names."""


def card() -> dict[str, Any]:
    """The model card's machine-readable part: version, SHA-256 by file, data."""
    content: dict[str, Any] = json.loads(CARD_FILE.read_text(encoding="utf-8"))
    return content


def read_checked_bytes(path: Path) -> bytes:
    """What is in `path`.

    Raises:
        ModelCorrupt: the file is missing, or its SHA-256 is not the card's.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelCorrupt(f"{path.name} cannot be read: {error}") from error
    digest = hashlib.sha256(data).hexdigest()
    expected = card()["files"].get(path.name)
    if digest != expected:
        raise ModelCorrupt(f"{path.name} has SHA-256 {digest}, its card says {expected}.")
    return data


def read_checked(path: Path) -> dict[str, np.ndarray]:
    """The arrays in `path`; raises like `read_checked_bytes`."""
    with np.load(io.BytesIO(read_checked_bytes(path)), allow_pickle=False) as arrays:
        return dict(arrays)
