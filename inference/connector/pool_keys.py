"""Between two hosts the engines' connection is encrypted, and open to who knows the pool's key.

This is zmq's own CURVE (RFC 26/CURVEZMQ: Curve25519, XSalsa20, Poly1305): both sides prove
themselves in the handshake, every connection has keys of its own that nobody can work out later,
and what is changed, repeated or left out ends it. zmq's thread encrypts, beside the steps. The key
pairs of both sides are derived from the one text that all engines of a pool are given, so that
there are no certificates to hand out. Who listens to a handshake can try texts: it takes scrypt for
each, and short ones are refused.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator
from zmq.utils import z85

from inference.config import PREFILL_KEY_VARIABLE
from inference.errors import ModelLoadError

_MIN_KEY = 32
_DOMAIN = "prefill"
_SECRET_BYTES = 32

HANDSHAKE_FAILED = (
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


@dataclass(frozen=True)
class KeyPair:
    public: bytes
    secret: bytes


@dataclass(frozen=True)
class PoolKeys:
    """One pair for the engines that compute prompts, one for those that ask. Not one for both: what
    one side has said is no answer to it."""

    server: KeyPair
    client: KeyPair

    def guard(self, socket: zmq.Socket[bytes]) -> None:
        """Have this socket listen to nobody but who asks with the pool's key; to be called before
        it binds, and in a context where `only_this_pool` holds."""
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = self.server.public, self.server.secret
        socket.zap_domain = _DOMAIN.encode()
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)  # nobody without somebody who checks

    def show(self, socket: zmq.Socket[bytes]) -> None:
        """Have this socket speak to nobody but a prefill engine with the pool's key; to be called
        before it connects."""
        socket.curve_serverkey = self.server.public
        socket.curve_publickey, socket.curve_secretkey = self.client.public, self.client.secret

    @contextmanager
    def only_this_pool(self, context: zmq.Context[Any]) -> Iterator[None]:
        """Answers, for the context's guarded sockets, who may connect."""
        gate = ThreadAuthenticator(context)
        gate.start()
        gate.configure_curve_callback(_DOMAIN, _Only(self.client.public))
        try:
            yield
        finally:
            gate.stop()


def pool_keys(address: str, key: str, *, encrypted: bool = True) -> PoolKeys | None:
    """How the two sides of an address speak; None: as they are, which is right where nothing leaves
    this host.

    Args:
        key: what all engines of a pool are given.
        encrypted: False where whoever runs them says that something else encrypts their network.
    Raises:
        ModelLoadError: what travels between hosts would be open, or the key can be guessed.
    """
    if not address.startswith("tcp://") or not encrypted:
        return None
    if not key:
        if _is_this_host(address):
            return None
        raise ModelLoadError(
            f"prompts would travel to or from {address} for everybody to read: set"
            f" {PREFILL_KEY_VARIABLE} to the same {_MIN_KEY} characters or more on both sides, or"
            " say --no-prefill-encryption where the network itself encrypts"
        )
    if len(key) < _MIN_KEY:
        raise ModelLoadError(
            f"{PREFILL_KEY_VARIABLE} encrypts what travels to or from {address}, and needs"
            f" {_MIN_KEY} characters, not {len(key)}"
        )
    length = 2 * _SECRET_BYTES
    secrets = hashlib.scrypt(
        key.encode(), salt=b"parley.prefill.curve.1", n=1 << 14, r=8, p=1, dklen=length
    )
    return PoolKeys(_pair(secrets[:_SECRET_BYTES]), _pair(secrets[_SECRET_BYTES:]))


class _Only:
    """Who may connect: those with one public key."""

    def __init__(self, public: bytes) -> None:
        self._public = public

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._public


def _pair(secret: bytes) -> KeyPair:
    encoded = z85.encode(secret)
    return KeyPair(zmq.curve_public(encoded), encoded)


def _is_this_host(address: str) -> bool:
    host = address.removeprefix("tcp://").rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name, or every address of this host
