"""A bucket of S3 as the place of kept keys and values.

Who else writes there is not known: a name that was not found is not asked for again for a while.
The bucket's own lifecycle rules remove what is old. botocore finds server and credentials as for
weights (`model/files/s3_files.py`).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

_NOT_FOUND = ("404", "NoSuchKey")
_MISSED_S = 10.0
_REMEMBERED = 100_000
_TIMEOUT_S = 5


class Bucket:
    """
    Args:
        bucket: its name.
        prefix: of all keys, with a slash at the end.
    """

    def __init__(self, bucket: str, prefix: str) -> None:
        self._bucket = bucket
        self._prefix = prefix
        config = Config(
            connect_timeout=_TIMEOUT_S, read_timeout=_TIMEOUT_S, retries={"max_attempts": 1}
        )
        self._client = botocore.session.get_session().create_client("s3", config=config)
        self._present: OrderedDict[str, None] = OrderedDict()
        self._missed: OrderedDict[str, float] = OrderedDict()

    def holds(self, name: str) -> bool:
        return name in self._present

    def may_hold(self, name: str) -> bool:
        missed = self._missed.get(name)
        return missed is None or time.monotonic() - missed >= _MISSED_S

    def get(self, name: str) -> bytes | None:
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)
            data: bytes = found["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _NOT_FOUND:
                self._present.pop(name, None)
                _remember(self._missed, name, time.monotonic())
                return None
            raise OSError(f"s3://{self._bucket}: {error}") from error
        except BotoCoreError as error:
            raise OSError(f"s3://{self._bucket}: {error}") from error
        _remember(self._present, name, None)
        return data

    def put(self, name: str, data: bytes) -> None:
        try:
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + name, Body=data)
        except (ClientError, BotoCoreError) as error:
            raise OSError(f"s3://{self._bucket}: {error}") from error
        self._missed.pop(name, None)
        _remember(self._present, name, None)


def _remember(among: OrderedDict[str, Any], name: str, value: float | None) -> None:
    among[name] = value
    while len(among) > _REMEMBERED:
        among.popitem(last=False)
