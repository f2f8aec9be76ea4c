"""The table of families and formats in docs/engine.md is the engine's registry."""

import re

import pytest
from gguf.constants import MODEL_ARCH_NAMES

from inference.errors import ModelLoadError
from inference.model import registry
from infra.launcher.procfile import ROOT

NOT_READ = ("clip", "mistral3", "qwen2vl")
"""What the table says is refused."""


def table_rows() -> list[tuple[str, str | None]]:
    """Names in config.json and in GGUF under "Models"."""
    page = (ROOT / "docs" / "engine.md").read_text()
    section = page.partition("\n## Models\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|`]+ \| `(\w+)` \| (?:`(.+?)` )?\|", section, re.MULTILINE)
    return [(folder, file or None) for folder, file in rows]


def test_table_of_families_is_the_registry() -> None:
    known = [(each.hf, each.gguf) for each in registry.ARCHITECTURES]
    assert sorted(table_rows(), key=str) == sorted(known, key=str)


def test_names_in_files_are_those_of_the_format() -> None:
    names = {file for _, file in table_rows() if file is not None}
    assert names | set(NOT_READ) <= set(MODEL_ARCH_NAMES.values()) | {"clip", "mistral3"}


@pytest.mark.parametrize("name", NOT_READ)
def test_formats_that_the_table_calls_refused_are_refused_by_name(name: str) -> None:
    with pytest.raises(ModelLoadError, match=f"'{name}' is not implemented"):
        registry.of_gguf({"general.architecture": name})
