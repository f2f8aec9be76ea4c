"""`make audit` and `make sbom`: what the product is made of, and what is known against it.

The versions are those of constraints.txt and package-lock.json. An audit that a registry does not
answer has found nothing out, and fails as loudly as one with findings.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.launcher import frontend
from infra.launcher.procfile import ROOT

_FRONTEND = ROOT / "frontend"
_OUTPUT = ROOT / "var" / "sbom"


def audit() -> int:
    """Ask PyPI and npm for advisories about every pinned version; the exit code."""
    pip_audit = (
        *("-m", "pip_audit", "--requirement", str(ROOT / "constraints.txt")),
        # Strict: what the registry does not know about is a failure, not a pass.
        *("--no-deps", "--disable-pip", "--strict", "--progress-spinner", "off"),
    )
    failed = [
        name
        for name, command, folder in (
            ("Python", (sys.executable, *pip_audit), ROOT),
            ("npm", (*_npm(), "audit", "--package-lock-only"), _FRONTEND),
        )
        if subprocess.run(command, cwd=folder, env=_environment(), check=False).returncode
    ]
    for name in failed:
        print(f"{name}: there are findings above, or the registry does not serve advisories.")
    return 1 if failed else 0


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
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{path.name} could not be made: {done.stderr.strip()[-500:]}")
    components = len(json.loads(done.stdout)["components"])
    path.write_text(done.stdout)
    print(f"{path}: {components} components")


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
