"""Every dependency is pinned, with a hash where the registry has one, and listed by `make sbom`."""

import json
import re
import shutil
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra import dependencies
from infra.launcher import frontend
from infra.launcher.errors import LaunchError
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
            version = wanted.rpartition("@")[2]  # of `npm:typescript@7.0.2`, a name of ours
            assert installed[f"node_modules/{name}"]["version"] == version, name


def test_lock_lists_what_npm_ci_asks_for_on_every_platform() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    optional = [
        (path, name, version)
        for path, entry in packages.items()
        for name, version in entry.get("optionalDependencies", {}).items()
        if re.fullmatch(r"\d+\.\d+\.\d+", version)
    ]
    assert optional, "the build tools have a package for each platform"
    for path, name, version in optional:
        assert found_from(path, name, packages).get("version") == version, (path, name)


def found_from(path: str, name: str, packages: dict[str, Any]) -> dict[str, Any]:
    """The package that `name` is for the one at `path`, as Node looks for it: in its own folder,
    then in those around it."""
    while path:
        if found := packages.get(f"{path}/node_modules/{name}"):
            return found
        path = path.rpartition("/node_modules/")[0]
    return packages.get(f"node_modules/{name}", {})


def versions_by_name(paths: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Of paths in `node_modules`, wherever a package lies."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path, version in paths:
        found[path.rpartition("node_modules/")[2]].add(version)
    return found


def test_page_is_installed_as_its_lock_says() -> None:
    """By Bun, which lays the packages into other folders than npm does."""
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    locked = versions_by_name((path, entry["version"]) for path, entry in lock.items() if path)
    folder = ROOT / "frontend" / "node_modules"
    packages = [*folder.glob("*/package.json"), *folder.glob("@*/*/package.json")]
    assert len(packages) > 300
    for path in packages:
        name = str(path.parent.relative_to(folder))
        assert json.loads(path.read_text())["version"] in locked[name], name


def test_installer_of_the_page_has_one_version_and_a_hash() -> None:
    packages = json.loads((frontend.INSTALLER / "package-lock.json").read_text())["packages"]
    wanted = packages.pop("")["dependencies"]
    assert {name: entry["version"] for name, entry in packages.items()}.items() >= {
        (f"node_modules/{name}", version) for name, version in wanted.items()
    }
    for name, entry in packages.items():
        assert entry["integrity"].startswith("sha512-"), name


@pytest.mark.parametrize("fault", ["hash", "asked for"])
def test_package_that_the_lock_does_not_name_is_not_installed(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever installs: `clsx` is one small package without any of its own."""
    page = tmp_path / "frontend"
    page.mkdir()
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    entry = lock["node_modules/clsx"]
    asked = {"clsx": entry["version"]}
    of_the_lock = dict(asked)
    if fault == "hash":
        entry = entry | {"integrity": f"sha512-{'A' * 86}=="}
    else:
        asked = {"clsx": "2.1.0"}
    packages = {"": {"dependencies": of_the_lock}, "node_modules/clsx": entry}
    (page / "package.json").write_text(json.dumps({"dependencies": asked}))
    (page / "package-lock.json").write_text(
        json.dumps({"lockfileVersion": 3, "packages": packages})
    )
    shutil.copytree(frontend.INSTALLER, page / "installer")
    monkeypatch.setattr(frontend, "SOURCES", page)
    monkeypatch.setattr(frontend, "INSTALLER", page / "installer")
    monkeypatch.setattr(frontend, "ROOT", tmp_path)
    monkeypatch.setenv("BUN_INSTALL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache-of-npm"))
    with pytest.raises(LaunchError, match=r"clsx|EINTEGRITY"):
        frontend.ensure_packages(frontend.find_node())
    assert not (page / "node_modules" / "clsx" / "package.json").exists()


def test_bill_of_materials_lists_what_is_installed(tmp_path: Path) -> None:
    python, page = dependencies.sbom(tmp_path)
    document = json.loads(python.read_text())
    assert document["bomFormat"] == "CycloneDX"
    listed = {normal(part["name"]): part["version"] for part in document["components"]}
    assert listed["django"] == pins()["django"]
    assert listed["cryptography"] == pins()["cryptography"]
    names = {part["name"] for part in json.loads(page.read_text())["components"]}
    assert {"react", "react-router", "vite"} <= names


CLEAN = json.dumps({"dependencies": [{"name": "a", "version": "1", "vulns": []}], "fixes": []})
VULNERABLE = CLEAN.replace("[]}]", '[{"id": "PYSEC-1", "fix_versions": ["2"]}]}]')
SKIPPED = '{"dependencies": [{"name": "a", "skip_reason": "not on PyPI"}], "fixes": []}'
NPM_CLEAN = '{"auditReportVersion": 2, "vulnerabilities": {}}'
NPM_VULNERABLE = '{"vulnerabilities": {"vite": {"range": "<6", "severity": "high"}}}'
NPM_REFUSED = '{"message": "405 Method Not Allowed", "error": {"summary": ""}}'


@pytest.mark.parametrize(
    ("pypi", "npm", "code", "says"),
    [
        (CLEAN, NPM_CLEAN, 0, ["PyPI: no advisory", "npm: no advisory"]),
        (VULNERABLE, NPM_CLEAN, 1, ["PyPI: a 1: PYSEC-1, mended in 2", "npm: no advisory"]),
        (CLEAN, NPM_VULNERABLE, 1, ["PyPI: no advisory", "npm: vite <6: high"]),
        (SKIPPED, NPM_CLEAN, 2, ["PyPI: NOT AUDITED: it serves nothing about 1 of 1"]),
        ("", NPM_CLEAN, 2, ["PyPI: NOT AUDITED: it does not answer: no route"]),
        (CLEAN, NPM_REFUSED, 2, ["PyPI: no advisory", "npm: NOT AUDITED: it serves no advis"]),
        (VULNERABLE, "[]", 1, ["PyPI: a 1: PYSEC-1", "npm: NOT AUDITED"]),
    ],
)
def test_audit_tells_findings_from_a_registry_that_did_not_answer(
    monkeypatch, capsys, pypi: str, npm: str, code: int, says: list[str]
) -> None:
    """What was not asked must not look like what has no findings, nor like what has some."""

    def run(command, **options):
        body = pypi if "pip_audit" in command else npm
        return SimpleNamespace(returncode=1, stdout=body, stderr="no route\nA complete log of this")

    monkeypatch.setattr(dependencies, "_npm", lambda: ("npm",))
    monkeypatch.setattr(dependencies.subprocess, "run", run)
    assert dependencies.audit() == code
    said = capsys.readouterr().out
    for line in says:
        assert line in said
    assert ("NOT AUDITED" in said) == any("NOT AUDITED" in line for line in says)
