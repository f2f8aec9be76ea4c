"""The sampling that the product asks its models for, read from its pool files."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

POOL_FILES = ("infra/pools.toml", "infra/models/*.pools.toml")
"""Paths from the repository's root."""


def default_sampling(model: Path, root: Path = Path()) -> dict[str, Any] | None:
    """Of requests that name none, by the pool whose id the model's file name begins with; None
    where no pool is for that model."""
    files = [file for pattern in POOL_FILES for file in sorted(root.glob(pattern))]
    for pool in _pools(files):
        if "sampling" in pool and model.name.lower().startswith(pool["id"]):
            sampling: dict[str, Any] = pool["sampling"]
            return sampling
    return None


def _pools(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [pool for file in files for pool in tomllib.loads(file.read_text())["model"]]
