"""Apache Kafka's jars: from the folder that `KAFKA_LIBS` names, else fetched by Maven into var/.

`jars.sha256` pins every jar; whatever has another hash is refused.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from infra.launcher.procfile import ROOT

FOLDER = "KAFKA_LIBS"
"""The environment variable that names the jars' folder."""
_HERE = Path(__file__).parent


class KafkaMissingError(Exception):
    """Java or a jar is missing; the message says what to install."""


def java() -> Path:
    """Return the program. Raises KafkaMissingError where there is none."""
    if not (program := shutil.which("java")):
        raise KafkaMissingError(
            "Apache Kafka needs Java 17: install it (on Debian: openjdk-17-jre-headless)."
        )
    return Path(program).resolve()


def libraries() -> Path:
    """Return the folder with all jars, fetched first where `KAFKA_LIBS` names none.

    Raises KafkaMissingError where a jar is missing or is not the pinned one.
    """
    if named := os.environ.get(FOLDER):
        folder = Path(named).resolve()
    else:
        folder = ROOT / "var" / "kafka"
        if not _missing(folder):
            return folder
        _fetch(folder)
    if missing := _missing(folder):
        raise KafkaMissingError(f"{folder} lacks these jars, or has other versions: {missing}")
    return folder


def _fetch(folder: Path) -> None:
    if not (maven := shutil.which("mvn")):
        raise KafkaMissingError(
            f"Apache Kafka's jars are fetched by Maven: install it, or name a folder in {FOLDER}."
        )
    command = [maven, "-q", "-f", str(_HERE / "pom.xml"), "dependency:copy-dependencies"]
    done = subprocess.run([*command, f"-DoutputDirectory={folder}"], check=False)
    if done.returncode:
        raise KafkaMissingError(
            f"Maven could not fetch Apache Kafka's jars. Name a folder with them in {FOLDER}."
        )


def _missing(folder: Path) -> list[str]:
    """Return the names of pinned jars that `folder` lacks or has in another form."""
    pinned = [line.split() for line in (_HERE / "jars.sha256").read_text().splitlines()]
    return [name for digest, name in pinned if _digest(folder / name) != digest]


def _digest(jar: Path) -> str:
    return hashlib.sha256(jar.read_bytes()).hexdigest() if jar.exists() else ""
