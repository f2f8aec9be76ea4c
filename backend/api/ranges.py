"""One part of a file, as a client that goes on with a download asks for it.

Source: RFC 9110, section 14: a server may ignore a Range, and ignores one that it cannot read.
"""

import re

from backend.platform.errors import ParleyError

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class RangeNotSatisfiable(ParleyError):
    """Nothing of the file lies there."""

    status, type, code = 416, "invalid_request_error", "range_not_satisfiable"


def byte_range(header: str | None, size: int) -> range | None:
    """The bytes that `Range: bytes=…` asks for; None for the whole file.

    Raises:
        RangeNotSatisfiable: it begins after the file's end.
    """
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found.groups()
    if not first:  # so many of the last ones
        count = min(int(last), size)
        if not count:
            raise _outside(size)
        return range(size - count, size)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise _outside(size)
    return range(int(first), min(int(last or size), size - 1) + 1)


def _outside(size: int) -> RangeNotSatisfiable:
    return RangeNotSatisfiable(
        f"The file has {size} bytes.", param="Range", headers={"Content-Range": f"bytes */{size}"}
    )
