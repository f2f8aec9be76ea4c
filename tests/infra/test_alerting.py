"""Alerts reach somebody, and budgets and burn rates are what the design and the workbook say."""

import re
import subprocess
from typing import Any

import pytest
import yaml

from backend.generation.stations import STATIONS
from infra.launcher.procfile import ROOT
from tests.support.debian_programs import debian_program

PROMETHEUS = ROOT / "infra" / "prometheus"
_MATCHER = re.compile(r'([a-z_]+)(=~|=)"([^"]*)"')


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PROMETHEUS / name).read_text())
    return found


def rules() -> list[dict[str, Any]]:
    return [rule for group in read("rules.yaml")["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    return [rule for rule in rules() if "alert" in rule]


def labels_of(alert: dict[str, Any]) -> dict[str, str]:
    return {"alertname": alert["alert"], **alert["labels"]}


def matches(matchers: list[str], labels: dict[str, str]) -> bool:
    """As Alertmanager has it: all of them, regular expressions anchored."""
    parsed = [_MATCHER.fullmatch(one) for one in matchers]
    assert all(parsed), matchers
    return all(
        labels.get(one[1], "") == one[3]
        if one[2] == "="
        else re.fullmatch(one[3], labels.get(one[1], "")) is not None
        for one in parsed
        if one is not None
    )


def receiver_of(route: dict[str, Any], labels: dict[str, str]) -> str:
    """The first route that matches, as deep as it goes."""
    for below in route.get("routes", []):
        if matches(below["matchers"], labels):
            return receiver_of({"receiver": route["receiver"], **below}, labels)
    return str(route["receiver"])


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_alert_reaches_the_receiver_of_its_severity(alert: dict[str, Any]) -> None:
    config = read("alertmanager.yml")
    wanted = {"page": "pager", "ticket": "tickets"}[alert["labels"]["severity"]]
    assert receiver_of(config["route"], labels_of(alert)) == wanted
    [receiver] = [one for one in config["receivers"] if one["name"] == wanted]
    compose = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text())
    secrets = compose["services"]["alertmanager"]["secrets"]
    for hook in receiver["webhook_configs"]:
        folder, _, secret = hook["url_file"].rpartition("/")
        assert folder == "/run/secrets"
        assert secret in secrets and secret in compose["secrets"]


def test_inhibiting_an_alert_needs_one_that_exists_and_silences_no_other_objective() -> None:
    every = [labels_of(alert) for alert in alerts()]
    for rule in read("alertmanager.yml")["inhibit_rules"]:
        sources = [one for one in every if matches(rule["source_matchers"], one)]
        targets = [one for one in every if matches(rule["target_matchers"], one)]
        assert sources and targets, rule
        assert rule["equal"]
        assert not [one for one in sources if one in targets]


def test_prometheus_sends_alerts_to_the_alertmanager_of_compose() -> None:
    [manager] = read("prometheus.yml")["alerting"]["alertmanagers"]
    [target] = manager["static_configs"][0]["targets"]
    name, port = target.split(":")
    compose = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text())
    assert compose["services"][name]["ports"] == [f"127.0.0.1:{port}:{port}"]


@pytest.mark.parametrize(
    ("name", "alert", "objective"),
    [
        ("answers_failed", "AnswersBurnTheirBudget", 0.995),
        ("requests_failed", "RequestsBurnTheirBudget", 0.999),
        ("begun_late", "FirstTokensBurnTheirBudget", 0.95),
    ],
)
def test_budget_burns_over_a_long_and_a_short_window(
    name: str, alert: str, objective: float
) -> None:
    by_name = {one["alert"]: one for one in alerts()}
    recorded = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}
    for speed, rate, long, short in (("Fast", 14.4, "1h", "5m"), ("Slowly", 6, "6h", "30m")):
        asked = re.findall(
            r"(parley:\w+:ratio_rate\w+) > ([0-9.]+)", by_name[alert + speed]["expr"]
        )
        assert [record for record, _ in asked] == [
            f"parley:{name}:ratio_rate{window}" for window in (long, short)
        ]
        for record, threshold in asked:
            assert float(threshold) == pytest.approx(rate * (1 - objective))
            window = record.rpartition("ratio_rate")[2]
            assert set(re.findall(r"\[(\w+)\]", recorded[record])) == {window}


def test_gateways_stations_share_the_budget_of_the_design() -> None:
    budget = {
        (rule["labels"]["station"], rule["labels"]["quantile"]): float(rule["expr"][7:-1])
        for rule in rules()
        if rule.get("record") == "parley:station_budget_seconds"
    }
    assert {station for station, _ in budget} <= set(STATIONS)
    before_the_queue = ("edge", "admission", "pre_check")
    for quantile, seconds in (("0.5", 0.010), ("0.99", 0.050)):
        shared = sum(budget[station, quantile] for station in before_the_queue)
        assert shared == pytest.approx(seconds)
    assert budget["pre_check", "0.5"] <= 0.005


def test_promtool_accepts_the_rules_and_their_cases() -> None:
    promtool = debian_program("promtool", "prometheus")
    if promtool is None:
        pytest.skip("promtool is not installed")
    for command in (["check", "rules", "rules.yaml"], ["test", "rules", "rules_test.yaml"]):
        done = subprocess.run(
            [promtool, *command], cwd=PROMETHEUS, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
