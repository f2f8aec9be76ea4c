"""Buckets of S3, read through botocore, as a file system of fsspec.

botocore finds the server and the credentials as every AWS tool does: `AWS_ENDPOINT_URL`,
`AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, or the machine's role. (s3fs would do the same, and binds
botocore to the versions that its asynchronous client knows.)
"""

from __future__ import annotations

from typing import IO, Any

import botocore.session
from botocore.exceptions import ClientError
from fsspec import AbstractFileSystem

_NOT_FOUND = ("404", "NoSuchKey", "NoSuchBucket")


class S3Files(AbstractFileSystem):
    """Reading only. A path is BUCKET/KEY; what lies below KEY/ makes it a folder."""

    protocol = "s3"
    cachable = False  # another try may find other credentials, or another server

    def __init__(self) -> None:
        super().__init__()
        self._client = botocore.session.get_session().create_client("s3")

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Raises FileNotFoundError when there is neither an object nor a folder."""
        bucket, key = self._taken_apart(path)
        try:
            head = self._client.head_object(Bucket=bucket, Key=key)
            return {"name": path, "size": head["ContentLength"], "type": "file"}
        except ClientError as error:
            _raise_unless_missing(error)
        if self.ls(path, detail=False):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(f"s3://{path}")

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """The objects right below a folder; those further down are left out."""
        bucket, key = self._taken_apart(path)
        prefix = f"{key}/" if key else ""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=bucket, Prefix=prefix, Delimiter="/"
        )
        try:
            found = [
                {"name": f"{bucket}/{entry['Key']}", "size": entry["Size"], "type": "file"}
                for page in pages
                for entry in page.get("Contents", ())
            ]
        except ClientError as error:
            _raise_unless_missing(error)
            raise FileNotFoundError(f"s3://{bucket}") from error
        return found if detail else [entry["name"] for entry in found]

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> IO[bytes]:
        bucket, key = self._taken_apart(path)
        try:
            body: IO[bytes] = self._client.get_object(Bucket=bucket, Key=key)["Body"]
        except ClientError as error:
            _raise_unless_missing(error)
            raise FileNotFoundError(f"s3://{path}") from error
        return body

    def _taken_apart(self, path: str) -> tuple[str, str]:
        bucket, _, key = str(self._strip_protocol(path)).partition("/")
        return bucket, key


def _raise_unless_missing(error: ClientError) -> None:
    if error.response["Error"]["Code"] not in _NOT_FOUND:
        raise error
