"""The framing of server-sent events, incrementally.

Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream". Only `data` is kept: engines
send nothing else that matters.
"""


class EventDecoder:
    """Bytes in, in any pieces; the data of complete events out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, received: bytes) -> list[bytes]:
        """The data of every event that `received` completes, in order."""
        buffered = self._rest + received
        if b"\r" in buffered:
            buffered, held = _split_trailing_return(buffered)
            buffered = buffered.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        else:
            held = b""
        *blocks, rest = buffered.split(b"\n\n")
        self._rest = rest + held
        events = []
        for block in blocks:
            if block[:6] == b"data: " and b"\n" not in block:  # what engines send, nearly always
                events.append(block[6:])
            elif (data := _data_of(block)) is not None:
                events.append(data)
        return events


def _split_trailing_return(buffered: bytes) -> tuple[bytes, bytes]:
    """A last CR may be half of a CRLF whose LF is still on its way."""
    if buffered.endswith(b"\r"):
        return buffered[:-1], b"\r"
    return buffered, b""


def _data_of(block: bytes) -> bytes | None:
    lines = []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            value = line[5:]
            lines.append(value[1:] if value.startswith(b" ") else value)
    return b"\n".join(lines) if lines else None
