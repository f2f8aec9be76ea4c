"""Honest pages out of packages whose versions this repository pins: what the npm packages of
`frontend/package-lock.json` say of themselves, and what the Python packages of `constraints.txt`
write beside their code. What Python packages say of themselves is left to the test."""

import ast
import zlib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackagePath, distributions
from pathlib import Path

from safety.training.untrusted.texts import Text

MAX_CHARACTERS = 8_000
_MIN_CHARACTERS = 300
_MAX_FILES = 5
"""Of a Python package: those with the longest of its documentation."""

_MAX_READ_FILES = 8
_SOURCE_BYTES = range(2_000, 100_000)
"""Of a Python package, so many files of such a size are read, in the order of a hash."""

NODE_MODULES = Path(__file__).resolve().parents[3] / "frontend" / "node_modules"


def npm_pages() -> Iterator[Text]:
    """README and changelog of each npm package; a package is a source."""
    for folder in sorted(_npm_packages()):
        name = str(folder.relative_to(NODE_MODULES))
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() == ".md" and path.is_file():
                yield from _page(path.read_text(encoding="utf-8", errors="replace"), f"npm {name}")


def _npm_packages() -> Iterator[Path]:
    for folder in NODE_MODULES.iterdir():
        if folder.name.startswith("@"):
            yield from (inner for inner in folder.iterdir() if inner.is_dir())
        elif folder.is_dir() and not folder.name.startswith("."):
            yield folder


def python_pages() -> Iterator[Text]:
    """Docstrings and documents of each Python package; a package is a source."""
    for package in sorted(distributions(), key=lambda one: one.name.lower()):
        found = sorted(_documents(package), key=lambda text: (-len(text[:MAX_CHARACTERS]), text))
        for text in found[:_MAX_FILES]:
            yield from _page(text, f"pypi {package.name.lower()}")


def _documents(package: Distribution) -> Iterator[str]:
    files = [file for file in package.files or () if _may_hold_documents(file)]
    for file in sorted(files, key=lambda one: zlib.crc32(str(one).encode()))[:_MAX_READ_FILES]:
        text = Path(str(file.locate())).read_text(encoding="utf-8", errors="replace")
        yield _docstrings(text) if file.suffix == ".py" else text


def _may_hold_documents(file: PackagePath) -> bool:
    named = file.suffix in {".py", ".md", ".rst", ".html"} and "dist-info" not in str(file)
    return named and (file.size or 0) in _SOURCE_BYTES


def _docstrings(source: str) -> str:
    """The docstrings of a module, one below the other; "" where it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return "\n\n".join(filter(None, (ast.get_docstring(node) for node in nodes)))


def _page(text: str, source: str) -> Iterator[Text]:
    """A part of a long text, another for each text."""
    if len(text) < _MIN_CHARACTERS:
        return
    start = zlib.crc32(text.encode("utf-8", "replace")) % max(1, len(text) - MAX_CHARACTERS + 1)
    yield Text(text[start : start + MAX_CHARACTERS], is_order=False, source=source)
