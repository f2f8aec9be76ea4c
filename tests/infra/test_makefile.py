"""The Makefile names only what exists, and its help lists what a person can ask for."""

import importlib.util
import re
import subprocess

from infra.launcher.procfile import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_module_that_a_target_runs_exists() -> None:
    modules = set(re.findall(r"-m ([a-z_.]+)", MAKEFILE)) - {"pip", "venv"}
    assert {"infra.checks", "infra.load.gateway"} <= modules
    for module in modules:
        assert importlib.util.find_spec(module) is not None, module


def test_help_lists_every_target() -> None:
    shown = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", MAKEFILE, re.MULTILINE))
    assert {"run", "test"} <= targets
    assert {line.split()[0] for line in shown.splitlines()} == targets


def test_ci_runs_exactly_the_readmes_command() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert script.rstrip().endswith("make test")
    readme = (ROOT / "README.md").read_text()
    assert "\n```\nmake test\n```\n" in readme
    assert "\n```\nmake run\n```\n" in readme
