"""Models of this machine: what operators ask of its launcher, and what the launcher says of them.

Asked by files in `VAR/models/commands/`, one a command, so that nothing is lost with Redis or with
a launcher that is not running; said in Redis, every second, with a lifetime of seconds, so that
nothing is told of a launcher that is gone. Without Django, since the launcher reads it.
"""

import os
import re
import time
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

import msgspec

STATUS_KEY = "models:machine"
"""In Redis: the JSON list of `MachineModel`."""
ASKED_KEY = "models:asked"
"""In Redis: a hash, from a model's id to the Unix time at which it was last used."""
STATUS_KEPT_S = 15
_COMMANDS = Path("models") / "commands"
_ID = r"^[a-z0-9][a-z0-9._-]{0,98}$"

State = Literal[
    "waiting", "fetching", "checking", "idle", "loading", "ready", "stopped", "declined"
]
Action = Literal["add", "start", "stop", "remove", "default"]
_Line = Annotated[str, msgspec.Meta(max_length=1000)]
_Bytes = Annotated[int, msgspec.Meta(ge=0)]


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of the launcher.

    Attributes:
        source: of `add`: `hf:…`, `pypi:…`, `s3:…` or a path, as inference/model/files/sources.py
            reads it.
        memory: bytes that its engine needs, where the estimate is wrong; 0: the estimate.
        max_model_len: tokens of context; 0: as many as the model has, up to the usual.
    """

    action: Action
    id: Annotated[str, msgspec.Meta(pattern=_ID)]
    source: _Line = ""
    name: _Line = ""
    license: _Line = ""
    notice: _Line = ""
    memory: _Bytes = 0
    max_model_len: _Bytes = 0


class MachineModel(msgspec.Struct, frozen=True):
    """A model of this machine, as its launcher says.

    Attributes:
        state: `idle`: unloaded, and loaded when it is asked for. `stopped`: until it is started.
            `declined`: it is not served, `detail` says why and what would change that.
        done_bytes, total_bytes: of what is fetched; a total of 0 is not known.
        memory: bytes that its engine needs.
        sha256: of its file, or of the list of its files' hashes.
    """

    id: _Line
    name: _Line
    source: _Line
    state: State
    detail: _Line = ""
    done_bytes: _Bytes = 0
    total_bytes: _Bytes = 0
    memory: _Bytes = 0
    sha256: _Line = ""
    license: _Line = ""
    notice: _Line = ""
    is_default: bool = False


def is_model_id(text: str) -> bool:
    return re.fullmatch(_ID, text) is not None


def command_write(var: Path, command: Command) -> None:
    """Ask it of the launcher whose data is below `var`, now or when it next starts."""
    folder = var / _COMMANDS
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{time.time_ns():020d}-{uuid4().hex}"
    temporary = folder / f".{name}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(command))
    temporary.rename(folder / f"{name}.json")


def commands_take(var: Path) -> list[Command | str]:
    """What was asked since the last time, in its order, and gone then; a text for what is no
    command."""
    taken: list[Command | str] = []
    for path in sorted((var / _COMMANDS).glob("*.json")):
        try:
            taken.append(msgspec.json.decode(path.read_bytes(), type=Command))
        except (OSError, msgspec.DecodeError) as error:
            taken.append(f"{path.name} is no command: {error}")
        path.unlink(missing_ok=True)
    return taken
