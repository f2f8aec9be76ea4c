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

from backend.platform.machine_models import STATUS_KEY, MachineModel
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
_MACHINE_DECODER = msgspec.json.Decoder(list[MachineModel])
_ON_THEIR_WAY = {"waiting", "fetching", "checking", "loading"}
"""Of added models: why one is declined is for operators, since it names files of the machine."""


def pending_models() -> list[PendingModel]:
    """What is on its way now; nothing where that is not known. Synchronous."""
    try:
        published = cast(bytes | None, sync_client().get(KEY))
        found = _DECODER.decode(published) if published else []
    except (RedisError, OSError, msgspec.DecodeError) as error:
        log.warning("pending_models_not_known", error=str(error))
        return []
    return found + [_pending(model) for model in machine_models() if model.state in _ON_THEIR_WAY]


def machine_models() -> list[MachineModel]:
    """The models that this machine's launcher serves or was asked to; nothing where there is none.
    Synchronous."""
    try:
        published = cast(bytes | None, sync_client().get(STATUS_KEY))
        return _MACHINE_DECODER.decode(published) if published else []
    except (RedisError, OSError, msgspec.DecodeError) as error:
        log.warning("machine_models_not_known", error=str(error))
        return []


def launcher_is_there() -> bool:
    """Whether a launcher that takes added models has said so in the last seconds. Synchronous."""
    try:
        return bool(sync_client().exists(STATUS_KEY))
    except (RedisError, OSError):
        return False


def _pending(model: MachineModel) -> PendingModel:
    names = {name for name in PendingModel.__struct_fields__ if name != "detail"}
    return PendingModel(**{name: getattr(model, name) for name in names})
