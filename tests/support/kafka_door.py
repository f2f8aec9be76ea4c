"""A door in front of a broker that has neither TLS nor SASL: it asks for both, as Kafka does.

TLS is OpenSSL's. SASL is spoken on the wire as brokers speak it: `ApiVersions` may be asked before,
then `SaslHandshake` and `SaslAuthenticate` (KIP-43, KIP-152), and nothing reaches the broker until
a client has proved who they are. SCRAM's server side is scramp's (RFC 5802). Afterwards frames pass
in both directions; where the broker names its own port, the door's stands in its place.
`tests/billing/test_kafka_access.py` holds the door itself against librdkafka.
"""

import asyncio
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

from scramp import ScramException, ScramMechanism

from infra.services.ports import LOOPBACK

USERNAME, PASSWORD = "parley", "a, password=with marks"
SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 17, 18, 36
_SASL_VERSION = 2
_FLEXIBLE = 2
"""The version of SaslAuthenticate from which on lengths are varints and fields may be tagged."""
_NONE, _UNSUPPORTED_MECHANISM, _AUTHENTICATION_FAILED = 0, 33, 58


class Refused(Exception):
    """The client has not proved who they are; the connection ends."""


class KafkaDoor:
    """Listens on `address`, in a thread of its own, until `stop`.

    Args:
        broker: `host:port` of what stands behind it.
        tls: None for a door without TLS.
        mechanism: of SASL; "" asks for nothing.
        token: whether a token of OAUTHBEARER is one.
    """

    def __init__(
        self,
        broker: str,
        *,
        tls: ssl.SSLContext | None,
        mechanism: str = "",
        token: Callable[[str], bool] = lambda token: False,
    ) -> None:
        self._host, _, port = broker.partition(":")
        self._port = int(port)
        self._tls, self._mechanism, self._token = tls, mechanism, token
        self.authenticated = 0
        self.refused = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, LOOPBACK, 0, ssl=tls)
        )
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.address = f"{LOOPBACK}:{self.port}"
        # What the broker calls itself, in every version of every answer, and what clients are told.
        host = LOOPBACK.encode()
        self._theirs = host + struct.pack(">i", self._port)
        self._ours = host + struct.pack(">i", self.port)
        self._thread = threading.Thread(target=self._loop.run_forever, name="kafka-door")
        self._thread.start()

    def stop(self) -> None:
        async def end() -> None:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        broker: asyncio.StreamWriter | None = None
        try:
            answers, broker = await asyncio.open_connection(self._host, self._port)
            if self._mechanism:
                await self._authenticate(reader, writer, answers, broker)
            self.authenticated += 1
            async with asyncio.TaskGroup() as both:
                both.create_task(_pass_on(reader, broker))
                both.create_task(_pass_on(answers, writer, self._theirs, self._ours))
        except Refused:
            self.refused += 1
        except (OSError, asyncio.IncompleteReadError, ExceptionGroup):
            pass
        finally:
            for end in (writer, broker):
                if end is not None:
                    end.close()
            self._tasks.discard(task)

    async def _authenticate(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answers: asyncio.StreamReader,
        broker: asyncio.StreamWriter,
    ) -> None:
        """Until the client has proved who they are. Raises Refused."""
        proof = self._proof()
        chosen = False
        while True:
            frame = await _frame(reader)
            kind, version, correlation = struct.unpack_from(">hhi", frame)
            body = frame[10 + max(0, struct.unpack_from(">h", frame, 8)[0]) :]
            if kind == API_VERSIONS:
                broker.write(_framed(frame))
                writer.write(_framed(with_sasl(await _frame(answers), version)))
            elif kind == SASL_HANDSHAKE:
                chosen = _string(body) == self._mechanism
                code = _NONE if chosen else _UNSUPPORTED_MECHANISM
                enabled = _as_string(self._mechanism)
                writer.write(_framed(struct.pack(">ihi", correlation, code, 1) + enabled))
            elif kind == SASL_AUTHENTICATE and chosen:
                answer, known = proof(_said(body, version))
                writer.write(_framed(_answer_to_proof(correlation, version, answer, known)))
                if known is not None:
                    await writer.drain()
                    if not known:
                        await _read_to_its_end(reader)
                        raise Refused
                    return
            else:
                raise Refused  # a broker closes the connection, too

    def _proof(self) -> Callable[[bytes], tuple[bytes, bool | None]]:
        """What to answer to each message, and whether the client is known now (None: not yet)."""
        if self._mechanism == "PLAIN":
            return lambda said: (b"", said in _PLAIN)
        if self._mechanism == "OAUTHBEARER":
            return self._bearer
        return _Scram(self._mechanism)

    def _bearer(self, said: bytes) -> tuple[bytes, bool | None]:
        if said == b"\x01":  # the client has read why they are refused (RFC 7628, section 3.2.3)
            return b"", False
        header, _, rest = said.partition(b"auth=Bearer ")
        assert header == b"n,,\x01", said
        if self._token(rest.partition(b"\x01")[0].decode()):
            return b"", True
        return b'{"status":"invalid_token"}', None


async def _read_to_its_end(reader: asyncio.StreamReader) -> None:
    """A client that is refused closes the connection itself, once it has read why. A broker waits
    too (Kafka's KIP-306): a client whose connection ends at once may never read it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            await reader.read()


# RFC 4616: for whom they act, who they are, and their password; brokers let nobody act for others.
_PLAIN = {
    b"\0".join((whose, USERNAME.encode(), PASSWORD.encode())) for whose in (b"", USERNAME.encode())
}


class _Scram:
    """One exchange: the client's first message, then their proof."""

    def __init__(self, mechanism: str) -> None:
        scram = ScramMechanism(mechanism)
        known = scram.make_auth_info(PASSWORD)
        unknown = scram.make_auth_info("somebody else's")
        self._server = scram.make_server(lambda name: known if name == USERNAME else unknown)
        self._begun = False

    def __call__(self, said: bytes) -> tuple[bytes, bool | None]:
        try:
            if not self._begun:
                self._begun = True
                self._server.set_client_first(said.decode())
                return self._server.get_server_first().encode(), None
            self._server.set_client_final(said.decode())
        except ScramException:
            return b"", False
        return self._server.get_server_final().encode(), True


def with_sasl(answer: bytes, version: int) -> bytes:
    """The broker's answer to ApiVersions, with the two requests that the door answers itself."""
    added = [(SASL_HANDSHAKE, 0, 1), (SASL_AUTHENTICATE, 0, _SASL_VERSION)]
    code = struct.unpack_from(">h", answer, 4)[0]
    if code != _NONE:  # UNSUPPORTED_VERSION has the form of version 0, whatever was asked
        version = 0
    if version >= 3:  # compact array: its length and one, as a varint of one byte
        count = answer[6]
        assert count + len(added) < 128, "a longer varint"
        entries = b"".join(struct.pack(">hhhB", *one, 0) for one in added)
        return answer[:6] + bytes([count + len(added)]) + entries + answer[7:]
    (count,) = struct.unpack_from(">i", answer, 6)
    entries = b"".join(struct.pack(">hhh", *one) for one in added)
    return answer[:6] + struct.pack(">i", count + len(added)) + entries + answer[10:]


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)


def _framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def _said(body: bytes, version: int) -> bytes:
    """What the client says of themselves."""
    if version < _FLEXIBLE:
        return body[4 : 4 + struct.unpack_from(">i", body)[0]]
    at, length = 1, 0  # behind the header's tagged fields, of which there are none
    shift = 0
    while True:
        byte = body[at]
        at, length, shift = at + 1, length | (byte & 0x7F) << shift, shift + 7
        if not byte & 0x80:
            return body[at : at + length - 1]


def _answer_to_proof(correlation: int, version: int, answer: bytes, known: bool | None) -> bytes:
    code = _AUTHENTICATION_FAILED if known is False else _NONE
    if version >= _FLEXIBLE:
        compact = _varint(len(answer) + 1) + answer
        # No tagged fields, and no message.
        return struct.pack(">iBhB", correlation, 0, code, 0) + compact + struct.pack(">qB", 0, 0)
    message = _as_string("Authentication failed") if code else struct.pack(">h", -1)
    lifetime = struct.pack(">q", 0) if version else b""
    sent = struct.pack(">i", len(answer)) + answer
    return struct.pack(">ih", correlation, code) + message + sent + lifetime


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def _string(body: bytes) -> str:
    return body[2 : 2 + struct.unpack_from(">h", body)[0]].decode()


def _as_string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


async def _pass_on(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    theirs: bytes = b"",
    ours: bytes = b"",
) -> None:
    """Frame by frame; `theirs` and `ours` have the same length."""
    with suppress(OSError, asyncio.IncompleteReadError):
        while True:
            frame = await _frame(reader)
            writer.write(_framed(frame.replace(theirs, ours) if theirs else frame))
            await writer.drain()
    writer.close()
