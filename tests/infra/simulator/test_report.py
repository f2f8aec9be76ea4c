"""A scenario's table and its plot hold what its runs gave."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

from infra.simulator.fleet import FleetSpec
from infra.simulator.people import Crowd
from infra.simulator.plots import draw
from infra.simulator.report import table
from infra.simulator.scenarios import HARDWARE, SCENARIOS, Run, Scenario, simulate
from infra.simulator.step_times import StepTimes, load


def _runs(times: StepTimes) -> list[Run]:
    spec = FleetSpec(times, 20)
    crowd = Crowd(400, pause_s=10.0)
    return [
        Run("all", spec, crowd, 240.0),
        Run("herd", replace(spec, max_waiting=20, places=4), crowd, 240.0, herd_at=60.0),
    ]


def test_table_and_plot_show_every_run(tmp_path: Path) -> None:
    scenario = Scenario("small", "A few replicas.", _runs, 30.0)
    results = simulate(scenario, 2)
    rows = table(scenario, results).splitlines()
    assert [row.split("|")[1].strip() for row in rows[4:]] == ["all", "herd"]
    assert results[0].figures.refused == 0 < results[1].figures.refused
    assert results[0].figures.dollars > 0
    path = tmp_path / "small.svg"
    draw(scenario, results, path)
    text = "".join(ElementTree.parse(path).getroot().itertext())
    assert "herd, p99" in text
    assert "GPUs" in text


def test_every_scenario_differs_in_its_runs_labels() -> None:
    for scenario in SCENARIOS.values():
        labels = [run.label for run in scenario.runs(load(HARDWARE))]
        assert len(labels) == len(set(labels)) >= 2, scenario.name
