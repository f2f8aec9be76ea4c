"""What this repository holds, and what its pages and comments say that it holds."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

from infra.launcher.procfile import ROOT

PACKAGES = ("backend", "billing", "inference", "infra", "safety", "tests", "voice")
_FOLDERS = (*PACKAGES, "docs", "frontend")
# A file with one of these suffixes is ours when only its name is given. Others (`report.json`)
# are ours when a folder of ours stands before them.
_CODE = ("py", "md", "h", "cpp", "ts", "tsx", "mjs", "css")
_C_LIKE = {".c", ".cpp", ".css", ".h", ".js", ".mjs", ".ts", ".tsx"}
_HASH_LIKE = {".example", ".sh", ".toml", ".yaml", ".yml", "Dockerfile", "Makefile", "Procfile"}
# Built, fetched or filled in by hand; git does not keep them.
_NOT_KEPT = ("backend/static/app", "frontend/dist", "frontend/node_modules", "infra/compose.env")
# Names that end like files.
_PRODUCTS = {"llama.cpp"}

_FILE = re.compile(
    rf"(?<![\w./~$:{{}}<>@-])((?:[\w.*-]+/)*[\w*-][\w.*-]*\.(?:{'|'.join(_CODE)}))(?![\w/-])"
)
_UNDER_FOLDER = re.compile(rf"(?<![\w./~$:{{}}<>@-])((?:{'|'.join(_FOLDERS)})/[\w./*-]*[\w/*])")
_MODULE = re.compile(rf"(?<![\w./$-])((?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+)(?![\w/*])")
# Comments and strings of Python, one after the other: what looks like one inside another is none.
_PROSE = re.compile(
    r"""#[^\n]*|(?:\b[bfruBFRU]{1,2})?(?:"""
    r"""\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}|"""
    r""""[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')""",
    re.DOTALL,
)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_DECISIONS = re.compile(
    r"\bdecisions?[\s/#*(]+(0\d{3}\b(?:(?:,|,? and|\sto)?[\s#*/]+0\d{3}\b)*)", re.I
)


class Text(NamedTuple):
    """A page, a comment or a docstring; `line` is that of its first line."""

    path: str
    line: int
    text: str

    def at(self, offset: int) -> str:
        """Where a name stands, as editors want it."""
        return f"{self.path}:{self.line + self.text.count(chr(10), 0, offset)}"


@cache
def files() -> frozenset[str]:
    """Every file that git keeps or would keep."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return frozenset(name for name in listed.split("\0") if name and (ROOT / name).is_file())


@cache
def _paths() -> frozenset[str]:
    """Files and folders by every ending of their paths, since pages leave out what is clear."""
    parts = [file.split("/") for file in files()]
    whole = {tuple(file[:end]) for file in parts for end in range(1, len(file) + 1)}
    return frozenset("/".join(path[start:]) for path in whole for start in range(len(path)))


def pages() -> Iterator[Text]:
    """README, CONTRIBUTING and everything under docs/."""
    for name in sorted(files()):
        if name.endswith(".md") and (name.startswith("docs/") or "/" not in name):
            yield Text(name, 1, (ROOT / name).read_text())


def comments(find: Callable[[Text], Collection[str]]) -> Iterator[Text]:
    """Comments and docstrings of code and configuration.

    Args:
        find: only Python files in whose comments and strings it finds something are taken apart,
            because that takes ten seconds for all.
    """
    for name in sorted(files()):
        path = Path(name)
        is_python = path.suffix == ".py"
        is_c_like = path.suffix in _C_LIKE and not name.endswith(".gen.ts")
        if is_python or is_c_like or path.suffix in _HASH_LIKE or name in _HASH_LIKE:
            source = (ROOT / name).read_text()
            if is_python:
                if find(Text(name, 1, "\n".join(prose(source)))):
                    yield from _python_comments(name, source)
            else:
                pattern = r"/\*.*?\*/|(?<!:)//[^\n]*" if is_c_like else r"(?<!\S)#[^\n]*"
                for match in re.finditer(pattern, source, re.DOTALL):
                    line = source.count("\n", 0, match.start()) + 1
                    yield Text(name, line, match.group())


@cache
def prose(source: str) -> list[str]:
    """The comments of Python code, and its strings with their quotes and prefixes."""
    return [match.group() for match in _PROSE.finditer(source)]


def without_prose(source: str) -> str:
    """Python code without comments, and without strings that hold a space and no name that is
    filled in."""

    def left(match: re.Match[str]) -> str:
        text = match.group()
        is_filled = "f" in text.partition(text[-1])[0].lower()
        return text if text[0] != "#" and (is_filled or " " not in text) else " "

    return _PROSE.sub(left, source)


def _python_comments(name: str, source: str) -> Iterator[Text]:
    """Lines of comments that follow each other are one text; strings that stand alone count too."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row = token.start[0]
            follows = lines[row - 2].lstrip().startswith("#") if row > 1 else False
            if not follows:
                end = row
                while end < len(lines) and lines[end].lstrip().startswith("#"):
                    end += 1
                yield Text(name, row, "\n".join([token.string, *lines[row:end]]))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            string = node.value.value
            if isinstance(string, str):
                yield Text(name, node.lineno, string)


def missing_names(text: Text) -> list[str]:
    """`place: name` of each file, folder or module of ours that is named and is not there."""
    found = [*_FILE.finditer(text.text), *_UNDER_FOLDER.finditer(text.text)]
    missing = {
        f"{text.at(match.start(1))}: {name}"
        for match in found
        if not _is_there(name := match.group(1).rstrip("/"))
    }
    for match in _MODULE.finditer(text.text):
        if match.group(1).rpartition(".")[2] not in (*_CODE, "md") and not _is_module(
            match.group(1)
        ):
            missing.add(f"{text.at(match.start(1))}: {match.group(1)}")
    return sorted(missing)


def _is_there(name: str) -> bool:
    if name.startswith((*_NOT_KEPT, "../")) or name in _PRODUCTS:
        return True
    name = name.replace("NAME", "*")  # `routes/NAME.py` stands for each of them
    if re.match(r"docs/decisions/\d{4}$", name):
        return True  # a decision by its number: decisions_named sees it
    if "*" in name:
        return any(fnmatch(path, name) for path in _paths())
    return name in _paths()


def _is_module(name: str) -> bool:
    """Whether a dotted name leads to a package, a module, or a word that the module holds."""
    path = Path()
    for part in name.split("."):
        if (path / part).as_posix() in _paths() and (ROOT / path / part).is_dir():
            path = path / part
            continue
        module = path / f"{part}.py"
        if module.as_posix() in files():
            path = module
            continue
        holder = path if path.suffix else path / "__init__.py"
        return re.search(rf"\b{part}\b", (ROOT / holder).read_text()) is not None
    return True


def broken_links(page: Text) -> list[str]:
    """`place: target` of each relative link to a file or heading that is not there."""
    broken = []
    for match in _LINK.finditer(page.text):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        file, _, heading = target.partition("#")
        path = (ROOT / page.path).parent / file if file else ROOT / page.path
        if not path.exists() or (heading and heading not in anchors(path.read_text())):
            broken.append(f"{page.at(match.start())}: {target}")
    return broken


def anchors(page: str) -> set[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    without_code = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in _HEADING.findall(without_code)
    }


def decisions_named(text: Text) -> dict[str, str]:
    """The numbers of decisions that a text names, each with its place."""
    named = {
        number: text.at(match.start())
        for match in _DECISIONS.finditer(text.text)
        for number in re.findall(r"\d{4}", match.group(1))
    }
    if text.path.startswith("docs/decisions/"):  # a page speaks of others by their numbers alone
        for match in re.finditer(r"(?<![\w.,#-])0[01]\d\d(?![\w.,]\d|\w)", text.text):
            named[match.group()] = text.at(match.start())
    return named
