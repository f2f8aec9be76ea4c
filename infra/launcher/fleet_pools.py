"""The pools files of added models: one a model, in the folder that `PARLEY_POOLS` names."""

import json
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from infra.launcher.machine_model import ManagedModel

_PREFIX, _DEFAULT_PREFIX = "95-added", "05-added"
_SERVED = {"idle", "loading", "ready"}
SETTLED_PRICE = "0"
"""Prices are rows of the price list, made when the model was added."""


class FleetPools:
    """Keeps the folder's files as the models are.

    Args:
        folder: `var/run/pools`; files of others there are left alone.
        models: where what was fetched is kept.
    """

    def __init__(self, folder: Path, models: Path) -> None:
        self._folder = folder
        self._models = models
        self._written: dict[str, tuple[str, str]] = {}  # by id: name and text

    def write(self, models: Sequence[ManagedModel]) -> None:
        """A file for each model that can be asked for, none for the others."""
        wanted = {
            model.record.id: (_name(model), _text(model))
            for model in models
            if model.state in _SERVED
        }
        for model_id, (name, _) in self._written.items():
            if model_id in wanted and name != wanted[model_id][0]:
                # By one step: no reader finds it twice or not at all.
                (self._folder / name).rename(self._folder / wanted[model_id][0])
        for model_id, (name, text) in wanted.items():
            if self._written.get(model_id) != (name, text):
                temporary = self._folder / f".{name}"
                temporary.write_text(text)
                temporary.rename(self._folder / name)
        names = {name for name, _ in wanted.values()}
        for prefix in (_PREFIX, _DEFAULT_PREFIX):  # a launcher that was killed left its own
            for path in self._folder.glob(f"{prefix}-*.toml"):
                if path.name not in names:
                    path.unlink(missing_ok=True)
        self._written = wanted

    def is_taken(self, model_id: str) -> bool:
        """Whether another's pools file has a model of that name."""
        for path in self._folder.glob("*.toml"):
            if path.name in {name for name, _ in self._written.values()}:
                continue
            for model in tomllib.loads(path.read_text()).get("model", []):
                if model_id in (model.get("id"), *model.get("aliases", ())):
                    return True
        return False

    def remove(self, model: ManagedModel) -> None:
        """Delete what was fetched of it; a file that lies elsewhere is its owner's."""
        from inference.model.files.sources import place_of

        fetched = self._models / "fetched"
        shutil.rmtree(place_of(model.record.source, fetched), ignore_errors=True)


def _name(model: ManagedModel) -> str:
    """A default is first, and so has `auto`."""
    prefix = _DEFAULT_PREFIX if model.record.is_default else _PREFIX
    return f"{prefix}-{model.record.id}.toml"


def _text(model: ManagedModel) -> str:
    record, found = model.record, model.found
    assert found is not None
    aliases = ["auto"] if record.is_default and "chat" in found.capabilities else []
    values: dict[str, object] = {
        "id": record.id,
        "name": record.name,
        "aliases": aliases,
        "context_window": found.max_model_len,
        "max_output_tokens": max(1, found.max_model_len // 2),
        "capabilities": found.capabilities,
        "max_concurrency": 16,
        "license": record.license,
        "notice": record.notice,
        "on_demand": True,
    }
    lines = ["[[model]]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
    prices = ", ".join(
        f'{kind} = "{SETTLED_PRICE}"' for kind in ("input", "cached_input", "output")
    )
    lines += [f"price_per_1k = {{ {prices} }}", "[[model.replica]]", 'name = "machine"']
    lines += [f"url = {_toml(model.engine_url)}", 'api_key = "${PARLEY_ENGINE_API_KEY:-}"']
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    """Texts are plain (machine_model.plain), so JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)
