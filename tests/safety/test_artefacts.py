"""The trained files are the ones that their card names."""

from pathlib import Path

import pytest

from safety.score.answer_model import ANSWERS_FILE
from safety.score.artefacts import ModelCorrupt, card, read_checked_bytes
from safety.score.classifier import (
    ENCODER_FILE,
    MODEL_FILE,
)
from safety.score.orders import ORDERS_FILE


@pytest.mark.parametrize(
    "file", [MODEL_FILE, ENCODER_FILE, ANSWERS_FILE, ORDERS_FILE], ids=lambda file: file.name
)
def test_trained_file_is_refused_when_its_digest_is_wrong(file: Path, tmp_path: Path) -> None:
    assert read_checked_bytes(file)
    forged = tmp_path / file.name
    forged.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(ModelCorrupt, match=card()["files"][file.name]):
        read_checked_bytes(forged)
