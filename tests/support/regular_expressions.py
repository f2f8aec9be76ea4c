"""The product's regular expressions, and texts that are the worst for each."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_constants as nodes
    import sre_parse

ROOT = Path(__file__).parents[2]
FOLDERS = ("backend", "billing", "safety", "documents", "voice")
_NOT_SERVING = ("/migrations/", "safety/training/", "/management/commands/", "/bench")
_SCANS = {"search", "finditer", "findall", "sub", "subn", "split"}
_ANCHORED = {"match", "fullmatch"}
_MANY = 100

Text = str | bytes


@dataclass(frozen=True)
class Expression:
    """A pattern, where it stands, and whether it is tried at each place of a text."""

    place: str
    pattern: re.Pattern[Any]
    scans: bool

    def run(self, text: Text) -> None:
        if self.scans:
            for _ in self.pattern.finditer(text):
                pass
        else:
            self.pattern.fullmatch(text)
            self.pattern.match(text)


def expressions() -> tuple[list[Expression], set[str]]:
    """All of them, and the calls whose pattern is put together when they run."""
    files = [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not any(part in f"/{path.relative_to(ROOT)}" for part in _NOT_SERVING)
    ]
    trees = {path: ast.parse(path.read_text()) for path in files}
    methods = _methods(trees.values())
    found: list[Expression] = []
    made_when_run: set[str] = set()
    for path, tree in trees.items():
        calls = list(_calls(tree))
        names = _names(path) if calls else {}
        for call, name in calls:
            place = f"{path.relative_to(ROOT)}: {ast.unparse(call.args[0])}"
            pattern = _pattern(call, names)
            if pattern is None:
                made_when_run.add(place)
                continue
            used = methods.get(name, _SCANS) if name else {_function(call)}
            found.append(Expression(place, pattern, bool(used & _SCANS)))
        for name, value in names.items():  # those made in a loop
            if isinstance(value, list | tuple):
                patterns = [one for one in value if isinstance(one, re.Pattern)]
                found += [Expression(f"{path.stem}.{name}", one, True) for one in patterns]
    return found, made_when_run


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls of `re`, with the name that a compiled pattern gets."""
    named = {
        id(node.value): node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _function(node) and node.args:
            yield node, named.get(id(node), "")


def _function(call: ast.Call) -> str:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return ""
    known = {"compile", *_SCANS, *_ANCHORED}
    return function.attr if function.value.id == "re" and function.attr in known else ""


def _methods(trees: Any) -> dict[str, set[str]]:
    """Which methods are called of a name, in any file."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _SCANS | _ANCHORED:
                owner = node.value
                name = getattr(owner, "id", getattr(owner, "attr", ""))
                found.setdefault(name, set()).add(node.attr)
    return found


def _names(path: Path) -> dict[str, Any]:
    """Return the module's names; none where its extra is not installed."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    try:
        return vars(import_module(module))
    except ModuleNotFoundError:
        return {}


def _pattern(call: ast.Call, names: dict[str, Any]) -> re.Pattern[Any] | None:
    flags = [argument for argument in call.args[1:] if "re." in ast.unparse(argument)]
    flags += [word.value for word in call.keywords if word.arg == "flags"]
    known = {**names, "re": re}
    try:
        pattern = eval(ast.unparse(call.args[0]), known)
        return re.compile(pattern, eval(ast.unparse(flags[0]), known) if flags else 0)
    except NameError:
        return None


def worst_texts(pattern: re.Pattern[Any], length: int) -> Iterator[Text]:
    """What a repetition takes, over and over, with and without what comes before it, and an end
    that fits nothing."""
    is_bytes = isinstance(pattern.pattern, bytes)
    tree = sre_parse.parse(pattern.pattern, pattern.flags)
    seen = set()
    for before, pump in _pumps(list(tree.data), ""):
        for text in (
            before + pump * (length // len(pump)),
            before + pump * (length // len(pump)) + "\0",
            before + pump * (length // len(pump)) + "!\n",
            (before + pump) * (length // len(before + pump)),
            before * (length // len(before)) if before else "",
        ):
            if text not in seen:
                seen.add(text)
                yield text.encode() if is_bytes else text


def _pumps(sequence: list[Any], before: str) -> Iterator[tuple[str, str]]:
    """Texts that lead to each repetition, and texts that it repeats."""
    for place, (kind, value) in enumerate(sequence):
        here = before + _sample(sequence[:place])
        if kind in {nodes.MAX_REPEAT, nodes.MIN_REPEAT, nodes.POSSESSIVE_REPEAT}:
            _, most, body = value
            if most >= _MANY:
                for pump in _samples(list(body)):
                    yield here, pump
            yield from _pumps(list(body), here)
        elif kind is nodes.SUBPATTERN:
            yield from _pumps(list(value[3]), here)
        elif kind is nodes.ATOMIC_GROUP:
            yield from _pumps(list(value), here)
        elif kind is nodes.BRANCH:
            for branch in value[1]:
                yield from _pumps(list(branch), here)
        elif kind in {nodes.ASSERT, nodes.ASSERT_NOT}:
            yield from _pumps(list(value[1]), here)
    if not before:
        yield "", _sample(sequence) or "a"


def _samples(body: list[Any]) -> list[str]:
    if len(body) == 1 and body[0][0] in {nodes.IN, nodes.ANY, nodes.NOT_LITERAL}:
        candidates = " \n\ta0.-_A\"'`[]<>/\\|!,:あ\u0301"
        if body[0][0] is nodes.IN:
            return [one for one in candidates if _is_in(body[0][1], one)][:6] or [_sample(body)]
        return [*candidates[:5]]
    return [_sample(body)] if _sample(body) else []


def _sample(sequence: list[Any]) -> str:
    """A short text that the sequence matches, but for what looks around."""
    return "".join(_one(kind, value) for kind, value in sequence)


def _one(kind: Any, value: Any) -> str:
    if kind is nodes.LITERAL:
        return chr(value)
    if kind is nodes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind is nodes.ANY:
        return "a"
    if kind is nodes.IN:
        return next((chr(one) for one in _COMMON if _is_in(value, chr(one))), "a")
    if kind in {nodes.MAX_REPEAT, nodes.MIN_REPEAT, nodes.POSSESSIVE_REPEAT}:
        least, most, body = value
        return _sample(list(body)) * min(max(least, 1), most)
    if kind is nodes.SUBPATTERN:
        return _sample(list(value[3]))
    if kind is nodes.ATOMIC_GROUP:
        return _sample(list(value))
    if kind is nodes.BRANCH:
        return _sample(list(value[1][0]))
    return ""


_COMMON = (*range(33, 127), 32, 10, *range(0x2000, 0x9FFF))


def _is_in(items: Any, character: str) -> bool:
    code, is_negated, found = ord(character), False, False
    for kind, value in items:
        if kind is nodes.NEGATE:
            is_negated = True
        elif kind is nodes.LITERAL:
            found |= code == value
        elif kind is nodes.RANGE:
            found |= value[0] <= code <= value[1]
        elif kind is nodes.CATEGORY:
            found |= bool(re.match(_CATEGORIES[value], character))
    return found != is_negated


_CATEGORIES = {
    nodes.CATEGORY_DIGIT: r"\d",
    nodes.CATEGORY_NOT_DIGIT: r"\D",
    nodes.CATEGORY_SPACE: r"\s",
    nodes.CATEGORY_NOT_SPACE: r"\S",
    nodes.CATEGORY_WORD: r"\w",
    nodes.CATEGORY_NOT_WORD: r"\W",
}
