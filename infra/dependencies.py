"""`make audit` and `make sbom`: what the product is made of, and what is known against it.

The versions are those of constraints.txt and package-lock.json. An audit that a registry does not
answer has found nothing out: it says so, and fails by an exit code of its own.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.launcher import frontend
from infra.launcher.procfile import ROOT

_FRONTEND = ROOT / "frontend"
_OUTPUT = ROOT / "var" / "sbom"
FINDINGS, UNANSWERED = 1, 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What a registry said about the pinned versions.

    Attributes:
        findings: one line for each advisory.
        unanswered: what it said nothing about, and why; empty where it answered for all.
    """

    registry: str
    findings: list[str]
    unanswered: str = ""


def audit() -> int:
    """Ask PyPI and npm for advisories about every pinned version.

    Returns:
        The exit code: 0, nothing is known against any; 1, there are findings; 2, there are none,
        but a registry did not answer for every package, so nobody knows.
    """
    answers = [_of_python(), _of_page()]
    for answer in answers:
        for finding in answer.findings:
            print(f"{answer.registry}: {finding}")
        if answer.unanswered:
            print(f"{answer.registry}: NOT AUDITED: {answer.unanswered}")
        elif not answer.findings:
            print(f"{answer.registry}: no advisory about any pinned version.")
    if any(answer.findings for answer in answers):
        return FINDINGS
    return UNANSWERED if any(answer.unanswered for answer in answers) else 0


def _of_python() -> Answer:
    done = _run(
        (
            *(sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "constraints.txt")),
            *("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"),
        ),
        ROOT,
    )
    packages = _json(done.stdout).get("dependencies")
    if not packages:
        return Answer("PyPI", [], f"it does not answer: {_last_line(done.stderr)}")
    findings = [
        f"{package['name']} {package['version']}: {advisory['id']},"
        f" mended in {', '.join(advisory['fix_versions']) or 'no version yet'}"
        for package in packages
        for advisory in package.get("vulns", ())
    ]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if not skipped:
        return Answer("PyPI", findings)
    names = ", ".join(skipped[:5]) + (", …" if len(skipped) > 5 else "")
    unanswered = f"it serves nothing about {len(skipped)} of {len(packages)} packages: {names}"
    return Answer("PyPI", findings, unanswered)


def _of_page() -> Answer:
    done = _run((*_npm(), "audit", "--package-lock-only", "--json"), _FRONTEND)
    answer = _json(done.stdout)
    if "vulnerabilities" not in answer:
        return Answer("npm", [], f"it serves no advisories: {_last_line(done.stderr)}")
    findings = [
        f"{name} {each['range']}: {each['severity']}"
        for name, each in answer["vulnerabilities"].items()
    ]
    return Answer("npm", findings)


def _json(text: str) -> dict[str, Any]:
    """{} for what is no JSON object."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _last_line(text: str) -> str:
    """Of what a tool says before it gives up, without where it keeps its log."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "complete log" not in line]
    return (telling or ["it said nothing"])[-1][:300]


def sbom(output: Path = _OUTPUT) -> list[Path]:
    """Write CycloneDX documents of the Python environment and of the page's packages."""
    output.mkdir(parents=True, exist_ok=True)
    python, page = output / "python.cdx.json", output / "page.cdx.json"
    _written(
        python,
        (
            *(sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"),
            *("--pyproject", str(ROOT / "pyproject.toml"), "--of", "JSON", sys.prefix),
            "--no-validate",  # against its own library's schema: 23 of 24 seconds
        ),
        ROOT,
    )
    _written(
        page,
        (*_npm(), "sbom", "--package-lock-only", "--sbom-format", "cyclonedx"),
        _FRONTEND,
    )
    return [python, page]


def _written(path: Path, command: Sequence[str], folder: Path) -> None:
    done = _run(command, folder)
    if done.returncode:
        raise SystemExit(f"{path.name} could not be made: {done.stderr.strip()[-500:]}")
    components = len(json.loads(done.stdout)["components"])
    path.write_text(done.stdout)
    print(f"{path}: {components} components")


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )


def _npm() -> tuple[str, ...]:
    return frontend.find_node().npm


def _environment() -> dict[str, str]:
    """Without pip's own settings, which name indexes that pip-audit would ask."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.dependencies", description=__doc__)
    parser.add_argument("action", choices=("audit", "sbom"))
    if parser.parse_args(arguments).action == "audit":
        return audit()
    sbom()
    return 0


if __name__ == "__main__":
    sys.exit(main())
