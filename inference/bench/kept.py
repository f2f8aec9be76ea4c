"""Figures kept from one run of the benchmark to the next."""

from __future__ import annotations

from pathlib import Path

import msgspec

from inference.bench.peers.cases import Cases
from inference.bench.report import BenchReport


class Kept:
    """What was measured so far, by the models' file names: in a file, so that a run goes on where
    one before it ended, or was ended."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._reports: dict[str, BenchReport] = {}
        if file is not None and file.exists():
            known = msgspec.json.decode(file.read_bytes(), type=dict[str, BenchReport])
            self._reports.update(known)

    def report(self, model: Path, cases: Cases) -> BenchReport | None:
        """Raises SystemExit where it was measured with other sizes."""
        known = self._reports.get(model.name)
        if known is not None and known.cases != cases:
            raise SystemExit(f"{self._file} has {model.name} in other sizes: {known.cases}")
        return known

    def add(self, report: BenchReport) -> BenchReport:
        self._reports[report.model] = report
        if self._file is not None:
            text = msgspec.json.format(msgspec.json.encode(self._reports), indent=1)
            self._file.write_bytes(text)
        return report
