"""The fields of a pools file: documented, and shown in the example."""

import re
import tomllib

import msgspec

from backend.generation.pools import tables
from backend.generation.pools.routing import POLICIES
from infra.launcher.procfile import ROOT

FIELDS = {field.name for field in msgspec.structs.fields(tables.ModelTable)} - {"replica"}
REPLICA_FIELDS = {field.name for field in msgspec.structs.fields(tables.ReplicaTable)}
EXAMPLE = ROOT / "infra" / "pools.example.toml"


def table_rows() -> dict[str, str]:
    """What docs/generation.md says under "Pools", by the names in a row's first cell."""
    page = (ROOT / "docs" / "generation.md").read_text()
    section = page.partition("\n## Pools\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", section, re.MULTILINE)
    return {name: text for cell, text in rows for name in re.findall(r"`([^`]+)`", cell)}


def test_every_field_of_a_model_is_documented() -> None:
    assert table_rows().keys() == FIELDS | {"[[model.replica]]"}


def test_every_field_of_a_replica_is_documented() -> None:
    said = set(re.findall(r"`(\w+)`", table_rows()["[[model.replica]]"]))
    assert said == REPLICA_FIELDS


def test_every_routing_policy_is_documented() -> None:
    said = set(re.findall(r"`(\w+)`", table_rows()["routing"]))
    assert set(POLICIES) <= said


def test_example_shows_every_field() -> None:
    models = tomllib.loads(EXAMPLE.read_text())["model"]
    assert {name for model in models for name in model} == FIELDS | {"replica"}
