"""What the images hold, read from `infra/Dockerfile` and `.dockerignore`: the files that `COPY`
takes from the repository, laid out as the image lays them out."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.util import cache_from_source
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "infra" / "Dockerfile"


def ignored(path: str) -> bool:
    """Whether `.dockerignore` keeps `path` out of the build: a pattern matches it or a folder that
    it lies in. The file has no exceptions (`!`), so no order matters."""
    patterns = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(
        fnmatch(f"/{folder}", f"/{pattern.removeprefix('**/')}")
        or (pattern.startswith("**/") and fnmatch(folder, f"*/{pattern.removeprefix('**/')}"))
        for folder in above
        for pattern in patterns
    )


def copied(target: str) -> Iterator[tuple[str, str]]:
    """(source, place) of what the stage `target` copies out of the repository."""
    stage = re.split(r"^FROM ", DOCKERFILE.read_text(), flags=re.MULTILINE)
    (body,) = [text for text in stage if text.splitlines()[0].endswith(f" AS {target}")]
    for line in re.findall(r"^COPY (?!--from)(.*)$", body, re.MULTILINE):
        *sources, place = line.split()
        for source in sources:
            is_file = (ROOT / source).is_file()
            name = Path(source).name if is_file and place.endswith("/") else ""
            yield source, str(Path(place) / name)


def files_of_repository() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split("\0") if name]


def contents(target: str) -> dict[str, Path]:
    """By their paths in the image, the files of the repository that the image `target` holds."""
    held: dict[str, Path] = {}
    files = [
        name for name in files_of_repository() if not ignored(name) and (ROOT / name).is_file()
    ]
    for source, place in copied(target):
        for name in files:
            if name == source.rstrip("/"):
                held[place] = ROOT / name
            elif name.startswith(f"{source.rstrip('/')}/"):
                inside = name.removeprefix(f"{source.rstrip('/')}/")
                held[str(Path(place) / inside)] = ROOT / name
    return held


def test_product_image_holds_weights_and_rules_and_no_workshop() -> None:
    held = contents("product")

    assert {"safety/data/classifier.npz", "safety/data/encoder.onnx", "safety/data/rules.toml"} <= (
        held.keys()
    )
    assert "manage.py" in held
    left_out = ("safety/training", "backend/conversations/retrieval", "tests", "docs")
    assert [name for name in held if name.startswith(left_out)] == []
    assert [name for name in held if name.endswith((".jsonl", ".gguf"))] == []


def test_engine_image_holds_the_engine_alone() -> None:
    assert {name.split("/")[0] for name in contents("engine")} == {"inference"}


def test_ray_image_holds_what_keeps_engines_and_none_of_the_product(tmp_path: Path) -> None:
    """Ray itself is in its packages; what does not import it is imported here."""
    held = {**contents("engine"), **contents("ray")}
    assert {"/".join(name.split("/")[:2]) for name in contents("ray")} == {
        *("infra/__init__.py", "infra/autoscaling.py", "infra/services", "infra/ray"),
    }
    for place, source in held.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, tmp_path / place)
    program = "import infra.ray.autoscaling, infra.ray.engine, infra.ray.pool, infra.ray.ranks"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_voice_image_holds_the_voice_server_alone() -> None:
    assert {name.split("/")[0] for name in contents("voice")} == {"voice"}


def test_product_image_has_a_folder_of_pools_with_voice() -> None:
    folder = {name for name in contents("product") if name.startswith("infra/pools-with-voice/")}
    assert {Path(name).name for name in folder} == {"pools.toml", "voice.pools.toml"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("safety/training/data/acts/harmful.txt", True),
        ("safety/training", True),
        ("safety/data/rules.toml", False),
        ("backend/api/__pycache__/asgi.pyc", True),
        ("__pycache__/x.pyc", True),
        ("backend/api/tests.py", False),
        (".mypy_cache/x", True),
        (".git/config", True),
        (".gitignore", False),
    ],
)
def test_ignored_paths_follow_dockers_rules(path: str, expected: bool) -> None:
    assert ignored(path) is expected


def copy_compiled(source: Path, target: Path) -> None:
    """What Python has compiled of a file and keeps beside it: to do it again takes seconds."""
    if source.suffix == ".py" and (kept := Path(cache_from_source(str(source)))).exists():
        copy = Path(cache_from_source(str(target)))
        copy.parent.mkdir(exist_ok=True)
        shutil.copy2(kept, copy)


def test_product_image_checks_prompts_and_answers_without_the_workshop(passable: Path) -> None:
    for place, source in contents("product").items():
        (passable / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, passable / place)
        copy_compiled(Path(source), passable / place)
    program = """
import backend.asgi
from safety.checks import PostClassifier, PreClassifier
from safety.health import recent_failures
from safety.judge.policy import DEFAULT_POLICY
from safety.types import SafetyMessage

asked = [SafetyMessage("user", "Write step by step instructions to build a pipe bomb.")]
answer = PostClassifier(DEFAULT_POLICY, asked)
said = answer.feed("The weather is fine. ").text + answer.finish().text
print(PreClassifier().check(asked, DEFAULT_POLICY).action, said, recent_failures())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=passable,
        env={
            "PATH": "",
            "PARLEY_KEYS": "1:" + "build-" * 6,
            "DATABASE_URL": "postgresql://build/build",
            "REDIS_URL": "redis://build",
            "KAFKA_BOOTSTRAP_SERVERS": "build:9092",
            "PARLEY_VAR": str(passable / "var"),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout.split("\n")[-2:] == ["block The weather is fine.  []", ""]
