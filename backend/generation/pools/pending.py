"""A model that is on its way: fetched, loaded, or not to be had, as the launcher publishes it.

Who fetches a model and starts its engine writes here how far it is, every second and with a
lifetime of seconds, so that nothing is told of a launcher that is gone. A model that has arrived is
in the pools files and no longer here. What is read is untrusted text of this machine: it is bounded
here, and the page shows it as text.
"""

from typing import Annotated, Literal, cast

import msgspec
import structlog
from redis.exceptions import RedisError

from backend.platform.redis import sync_client

log = structlog.get_logger(__name__)

KEY = "models:pending"
"""In Redis: the JSON list of those that are on their way."""

State = Literal["waiting", "fetching", "checking", "loading", "declined"]
_Line = Annotated[str, msgspec.Meta(max_length=500)]
_Bytes = Annotated[int, msgspec.Meta(ge=0)]


class PendingModel(msgspec.Struct, frozen=True):
    """One model that is not served yet.

    Attributes:
        state: `declined`: it will not come; `detail` says why and what would change that.
        done_bytes, total_bytes: of its file.
    """

    id: _Line
    name: _Line
    state: State
    detail: _Line = ""
    done_bytes: _Bytes = 0
    total_bytes: _Bytes = 0
    license: _Line = ""
    notice: _Line = ""


_DECODER = msgspec.json.Decoder(list[PendingModel])


def pending_models() -> list[PendingModel]:
    """What is on its way now; nothing where that is not known. Synchronous."""
    try:
        published = cast(bytes | None, sync_client().get(KEY))
        return _DECODER.decode(published) if published else []
    except (RedisError, OSError, msgspec.DecodeError) as error:
        log.warning("pending_models_not_known", error=str(error))
        return []
