"""Static files from our own origin; those whose name holds a hash of their bytes are kept for ever.

`collectstatic` compresses them (gzip and brotli), and the middleware sends what the client takes.
"""

import gzip
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import brotli
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from servestatic.compress import Compressor
from servestatic.middleware import ServeStaticMiddleware
from servestatic.responders import Redirect, StaticFile
from servestatic.storage import CompressedManifestStaticFilesStorage

# Vite's names, `assets/<name>-<eight characters of base64url>.<extension>`. Django's own hashes
# are known to the library.
_BUNDLED = re.compile(r"/static/app/assets/[^/]+-[\w-]{8}\.\w+$")

# 2 % larger than the most that brotli can, in less than half the time.
_BROTLI_QUALITY = 10
# The interpreter of Python has 10 MB and its snapshot 31: 5 % larger, in an eighth of the five
# seconds of quality 9, and a twenty-fifth of the sixteen of 10.
_LARGE_BYTES = 2_000_000
_BROTLI_QUALITY_OF_LARGE = 5
# 1 % larger than the most that gzip can, in a quarter of the time; browsers take brotli.
_GZIP_LEVEL = 6
# What is larger is read in chunks, by a thread.
_MAX_BYTES_AT_ONCE = 1_000_000


class StaticFilesMiddleware(ServeStaticMiddleware):
    def immutable_file_test(self, path: str, url: str) -> bool:
        """Whether the file at `url` can never change."""
        return bool(_BUNDLED.search(url)) or bool(super().immutable_file_test(path, url))

    @staticmethod
    async def aserve(static_file: StaticFile | Redirect, request: HttpRequest) -> HttpResponseBase:
        """A file of usual size is read here, whole: it is in the system's memory, and the library
        starts a thread for each, which costs more than the rest of the answer."""
        if isinstance(static_file, Redirect) or _is_read_in_chunks(static_file, request):
            return await ServeStaticMiddleware.aserve(static_file, request)
        found = static_file.get_response(request.method or "GET", request.META)
        content = b""
        if found.file is not None:
            with found.file as opened:
                content = opened.read()
        answer = HttpResponse(content, status=int(found.status))
        del answer.headers["Content-Type"]
        for name, value in found.headers:
            if value is not None:
                answer.headers[name] = value
        return answer


def _is_read_in_chunks(static_file: StaticFile, request: HttpRequest) -> bool:
    if "HTTP_RANGE" in request.META:
        return True
    _, headers = static_file.get_path_and_headers(request.META)
    return int(dict(headers).get("Content-Length") or 0) > _MAX_BYTES_AT_ONCE


class _Compressor(Compressor):
    """Compresses the same bytes once: each file lies there twice, as named and with its hash."""

    # Megabytes that only a developer's tools ask for.
    SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.compress_brotli = _once(_brotli)
        self.compress_gzip = _once(_gzip)


def _gzip(data: bytes) -> bytes:
    """The same bytes for the same content: no time is in it."""
    return gzip.compress(data, _GZIP_LEVEL, mtime=0)


def _brotli(data: bytes) -> bytes:
    large = len(data) > _LARGE_BYTES
    return brotli.compress(data, quality=_BROTLI_QUALITY_OF_LARGE if large else _BROTLI_QUALITY)


def _once(compress: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """`compress`, once for the same bytes, also when several threads have them at one time."""
    under_way: dict[bytes, Future[bytes]] = {}
    lock = threading.Lock()

    def compressed(data: bytes) -> bytes:
        with lock:
            ours = data not in under_way
            future = under_way.setdefault(data, Future())
        if ours:
            try:
                future.set_result(compress(data))
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()

    return compressed


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    def create_compressor(self, **options: Any) -> Compressor:
        return _Compressor(**options)
