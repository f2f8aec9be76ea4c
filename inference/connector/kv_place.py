"""The store that an engine's options name."""

from __future__ import annotations

import hashlib
from pathlib import Path

from inference.connector.kv_cipher import KVCipher
from inference.connector.kv_store import Directory, HostMemory, KVStore, Place
from inference.errors import ModelLoadError


def kv_store_at(
    place: str | None, *, model: str, key: str, max_bytes: int, memory_bytes: int
) -> KVStore:
    """
    Args:
        place: a folder, or `s3://bucket/prefix`; None: host memory alone.
        model: what tells its keys and values from those of any other model, or way of computing.
        key: of the operator; needed where there is a place.
        max_bytes: of a folder. memory_bytes: of host memory.
    Raises:
        ModelLoadError: there is a place and no good key, or buckets need a package that is not
            installed.
        OSError: the folder cannot be made.
    """
    memory = HostMemory(memory_bytes) if memory_bytes else None
    if place is None:
        return KVStore(memory, None, None)
    cipher = KVCipher(key, model)
    below = hashlib.sha256(model.encode()).hexdigest()[:16]
    return KVStore(memory, _place(place, below, max_bytes), cipher)


def _place(place: str, below: str, max_bytes: int) -> Place:
    if not place.startswith("s3://"):
        return Directory(Path(place) / below, max_bytes)
    try:
        from inference.connector.kv_bucket import Bucket
    except ImportError as error:
        raise ModelLoadError("--kv-store s3://… needs the package botocore") from error
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return Bucket(bucket, f"{prefix}{below}/")
