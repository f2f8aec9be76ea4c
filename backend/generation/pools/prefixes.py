"""What a prompt begins with, as hashes; and which replica has computed which beginnings.

A prompt is cut into blocks of 256 bytes, and each block's hash covers all before it and the
organization: as engines do it with tokens (inference/cache), which the gateway does not have. An
index holds for each replica the blocks of the prompts that were sent there, as many as its cache
holds; it is what this process has sent and what the others have told (placements.py). It may be
wrong: then a prompt is computed where another replica had it cached, and that is all.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from backend.generation.request import GenerationRequest

BLOCK_BYTES = 256
MAX_BLOCKS = 1024
_ROOT_BLOCKS = 4
"""Completions that begin with the same kilobyte count as one conversation: nothing else tells."""
_BYTES_PER_TOKEN = 4
DEFAULT_CAPACITY = 16_384
"""Blocks that a replica is thought to hold which does not tell: a million tokens."""
_MAX_CAPACITY = 262_144
_DIGEST_BYTES = 8
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginnings of one prompt.

    Attributes:
        root: what all turns of one conversation have in common, and no two conversations.
        blocks: the chained hash of each whole block, first block first.
    """

    root: bytes
    blocks: tuple[bytes, ...] = ()

    @property
    def tokens(self) -> int:
        """Roughly."""
        return len(self.blocks) * BLOCK_BYTES // _BYTES_PER_TOKEN


def prefix_of(request: GenerationRequest) -> Prefix:
    """The prefix of a request's prompt, salted with its organization."""
    salt = str(request.principal.organization_id).encode()
    parts = list(_parts(request))
    content = b"".join(parts)
    blocks = []
    parent = _digest(salt)
    for number in range(min(len(content) // BLOCK_BYTES, MAX_BLOCKS)):
        block = content[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES]
        parent = _digest(parent + block)
        blocks.append(parent)
    if request.endpoint == "completion" and len(blocks) >= _ROOT_BLOCKS:
        root = blocks[_ROOT_BLOCKS - 1]
    elif request.conversation_id is not None:
        root = _digest(salt + request.conversation_id.bytes)
    else:
        root = _digest(salt + b"".join(parts[: _until_first_user(request)]))
    return Prefix(root, tuple(blocks))


def _parts(request: GenerationRequest) -> Iterable[bytes]:
    """The prompt in the order in which a model reads it; a template's own words do not matter."""
    if request.endpoint == "completion":
        yield _ENCODER.encode(request.prompt or "")[:-1]
        return
    if request.tools is not None:
        yield _ENCODER.encode(request.tools)
    for message in request.messages:
        yield message.role.encode() + b"\0"
        yield _ENCODER.encode(message.content)


def _until_first_user(request: GenerationRequest) -> int | None:
    """How many parts the first user's message ends: later turns of its conversation begin so. Of a
    completion there is one part."""
    before = 1 if request.tools is not None else 0
    for number, message in enumerate(request.messages, start=1):
        if message.role == "user":
            return before + 2 * number
    return None


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES, person=b"parley-prefix").digest()


class PrefixIndex:
    """Which replica holds which beginnings, as far as is known.

    Invariant: of a replica, a block is held only if all blocks before it are: they are used last,
    and the least recently used are forgotten first.
    """

    def __init__(self) -> None:
        self._held: dict[str, OrderedDict[bytes, None]] = {}
        self._capacity: dict[str, int] = {}

    def note(self, replica: str, prefix: Prefix) -> None:
        """`prefix` was sent to `replica`."""
        held = self._held.setdefault(replica, OrderedDict())
        for block in (*reversed(prefix.blocks), prefix.root):
            held[block] = None
            held.move_to_end(block)
        capacity = self._capacity.get(replica, DEFAULT_CAPACITY)
        while len(held) > capacity:
            held.popitem(last=False)

    def holds(self, replica: str, root: bytes) -> bool:
        """Whether the conversation was there."""
        return root in self._held.get(replica, ())

    def matched(self, replica: str, blocks: Sequence[bytes]) -> int:
        """How many of `blocks`, from the first on, are held: by bisection."""
        held = self._held.get(replica)
        if not held:
            return 0
        low, high = 0, len(blocks)
        while low < high:
            middle = (low + high + 1) // 2
            if blocks[middle - 1] in held:
                low = middle
            else:
                high = middle - 1
        return low

    def limit(self, replica: str, tokens: int) -> None:
        """The replica's cache has room for so many tokens; 0: not known."""
        blocks = tokens * _BYTES_PER_TOKEN // BLOCK_BYTES
        self._capacity[replica] = min(_MAX_CAPACITY, blocks) or DEFAULT_CAPACITY

    def forget(self, replica: str) -> None:
        """Its cache is empty now, or it is gone."""
        self._held.pop(replica, None)
        self._capacity.pop(replica, None)
