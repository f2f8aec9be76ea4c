"""S3 as the storage of files. One that hangs costs its callers seconds, and the next ones nothing.

A call ends after a few seconds without an answer. The storage is then refused to everybody for a
moment, and tried by one caller after it. No connection to the database is held meanwhile.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from boto3.s3.transfer import S3UploadFailedError, TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError, ResponseStreamingError
from s3transfer.exceptions import RetriesExceededError
from storages.backends.s3 import S3Storage

from backend.platform.database import give_back_connections
from backend.platform.errors import StorageUnavailable

log = structlog.get_logger(__name__)

CONNECT_S, ANSWER_S, ATTEMPTS = 2, 4, 2
REFUSED_S = 5.0
"""After a failure nobody asks it for so long; a trial has time for all its attempts."""
_TRIAL_S = 2.0 * ATTEMPTS * (CONNECT_S + ANSWER_S)
MAX_MEMORY_BYTES = 8 << 20
"""Bytes of one file that are read at a time; the rest lies on disk."""

_HINT = "Check the bucket, region and endpoint of STORAGE_URL, the credentials and their rights."
_AWAY = (HTTPClientError, ResponseStreamingError, RetriesExceededError, S3UploadFailedError)


class ObjectStorage(S3Storage):
    """Each call raises StorageUnavailable where the server does not answer."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"max_memory_size": MAX_MEMORY_BYTES, **settings})
        self.client_config: Config = self.client_config.merge(
            Config(
                connect_timeout=CONNECT_S,
                read_timeout=ANSWER_S,
                retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
            )
        )
        self.transfer_config = TransferConfig(num_download_attempts=ATTEMPTS)
        self._breaker = _Breaker()

    def _open(self, name: str, mode: str = "rb") -> Any:
        with self._breaker.asking():
            file = super()._open(name, mode)
            if "r" in mode:
                file.open()  # fetches all of it: what is read later lies here
            return file

    def _save(self, name: str, content: Any) -> str:
        with self._breaker.asking():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        with self._breaker.asking():
            super().delete(name)

    def exists(self, name: str) -> bool:
        with self._breaker.asking():
            return bool(super().exists(name))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with self._breaker.asking():
            folders, files = super().listdir(path)
            return folders, files

    def size(self, name: str) -> int:
        with self._breaker.asking():
            return int(super().size(name))


class _Breaker:
    """Refuses a server that has just failed, without asking it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_failed = False
        self._refuses_until = 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Raises StorageUnavailable: the server did not answer, or is not asked."""
        with self._lock:
            if self._has_failed:
                if time.monotonic() < self._refuses_until:
                    raise _unavailable()
                self._refuses_until = time.monotonic() + _TRIAL_S
        give_back_connections()
        try:
            yield
        except _AWAY as error:
            self._failed()
            raise _unavailable() from error
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status >= 500:
                self._failed()
            else:
                self._has_failed = False
                log.error("storage_refused", status=status, error=str(error), hint=_HINT)
            raise _unavailable() from error
        except FileNotFoundError:  # an answer
            self._has_failed = False
            raise
        else:
            self._has_failed = False

    def _failed(self) -> None:
        with self._lock:
            self._has_failed = True
            self._refuses_until = time.monotonic() + REFUSED_S


def _unavailable() -> StorageUnavailable:
    return StorageUnavailable(
        "The storage of files does not answer. Try again.", retry_after=REFUSED_S
    )
