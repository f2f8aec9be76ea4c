"""Every dependency is pinned, with a hash where the registry has one, and listed by `make sbom`."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from infra import dependencies
from infra.launcher.procfile import ROOT

# Build tools where no image is built; not every registry serves them, so their hashes are unknown.
OTHER_PLATFORMS = {
    f"node_modules/{name}"
    for name in (
        *(
            f"@biomejs/cli-{platform}"
            for platform in (
                *("android-arm64", "android-x64", "darwin-arm64", "darwin-x64"),
                *("linux-arm64-musl", "linux-x64-musl", "win32-arm64", "win32-x64"),
            )
        ),
        *(
            f"@tailwindcss/oxide-{platform}"
            for platform in (
                *("android-arm64", "darwin-arm64", "darwin-x64", "freebsd-x64"),
                *("linux-arm-gnueabihf", "wasm32-wasi", "win32-arm64-msvc", "win32-x64-msvc"),
            )
        ),
    )
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    entries = [line.split("#")[0].split(";")[0].strip() for line in lines]
    return {normal(e.partition("==")[0]): e.partition("==")[2] for e in entries if e}


def test_constraints_name_one_version_of_each_package() -> None:
    assert all(re.fullmatch(r"\d[\w.+]*", version) for version in pins().values()), pins()


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    named = [entry for group in groups for entry in group]
    names = {normal(re.split(r"[\[<>=!~; ]", entry)[0]) for entry in named}
    # Built from source on the machine that times it; never part of an image.
    assert names - set(pins()) <= {"llama-cpp-python"}


def test_every_package_of_the_page_has_one_version_and_a_hash() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    installed = {name: entry for name, entry in packages.items() if name}
    assert len(installed) > 300
    for name, entry in installed.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+[\w.+-]*", entry["version"]), name
        if name not in OTHER_PLATFORMS:
            assert entry["integrity"].startswith("sha512-"), name
    direct = json.loads((ROOT / "frontend" / "package.json").read_text())
    for group in ("dependencies", "devDependencies"):
        for name, wanted in direct[group].items():
            assert installed[f"node_modules/{name}"]["version"] == wanted, name


def test_lock_lists_what_npm_ci_asks_for_on_every_platform() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    optional = {
        f"node_modules/{name}": version
        for entry in packages.values()
        for name, version in entry.get("optionalDependencies", {}).items()
        if re.fullmatch(r"\d+\.\d+\.\d+", version)
    }
    assert optional, "the build tools have a package for each platform"
    assert {name: packages.get(name, {}).get("version") for name in optional} == optional


def test_bill_of_materials_lists_what_is_installed(tmp_path: Path) -> None:
    python, page = dependencies.sbom(tmp_path)
    document = json.loads(python.read_text())
    assert document["bomFormat"] == "CycloneDX"
    listed = {normal(part["name"]): part["version"] for part in document["components"]}
    assert listed["django"] == pins()["django"]
    assert listed["cryptography"] == pins()["cryptography"]
    names = {part["name"] for part in json.loads(page.read_text())["components"]}
    assert {"react", "react-router", "vite"} <= names


@pytest.mark.parametrize("broken", ["Python", "npm"])
def test_unanswered_audit_fails(monkeypatch, capsys, broken: str) -> None:
    """A registry that cannot be reached must not look like one without findings."""

    class Done:
        def __init__(self, returncode: int) -> None:
            self.returncode = returncode

    asked = []

    def run(command, **options):
        asked.append(command)
        is_python = "pip_audit" in command
        return Done(1 if is_python == (broken == "Python") else 0)

    monkeypatch.setattr(dependencies, "_npm", lambda: ("npm",))
    monkeypatch.setattr(dependencies.subprocess, "run", run)
    assert dependencies.audit() == 1
    assert len(asked) == 2, "one that fails does not spare the other"
    assert f"{broken}: there are findings above, or" in capsys.readouterr().out
    [pip_audit] = [command for command in asked if "pip_audit" in command]
    assert "--strict" in pip_audit
