"""The deployment files agree with the product: commands, variables, probes, metrics.

Nothing here starts a cluster; what can be wrong without one is checked against the code.
"""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from backend.generation.pools.config import read_pools
from infra.launcher import procfile, voice
from infra.launcher.procfile import ROOT

INFRA = ROOT / "infra"
BASE = INFRA / "kubernetes" / "base"
VLLM = INFRA / "kubernetes" / "components" / "vllm-engine" / "engine.yaml"
ENGINE = INFRA / "kubernetes" / "components" / "parley-engine"
BACKGROUND = (
    "worker", "money", "data", "webhooks", "beat", "relay", "aggregator", "detector",
)  # fmt: skip
VOICE = INFRA / "kubernetes" / "components" / "voice"
WORKLOADS = {"Deployment", "Job"}


@cache
def base_objects() -> list[dict[str, Any]]:
    """What every cluster runs, our engine and the voice server."""
    return [
        document
        for folder in (BASE, ENGINE, VOICE)
        for name in yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
        for document in yaml.safe_load_all((folder / name).read_text())
        if document is not None
    ]


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [found for found in base_objects() if found["kind"] in kinds]


def pod(workload: dict[str, Any]) -> dict[str, Any]:
    return workload["spec"]["template"]


def name_of(found: dict[str, Any]) -> str:
    return f"{found['kind']}-{found['metadata']['name']}"


workloads = pytest.mark.parametrize("workload", of_kind(*WORKLOADS), ids=name_of)


@workloads
def test_pod_is_restricted(workload: dict[str, Any]) -> None:
    """What the namespace's `restricted` level demands, and a read-only root besides."""
    spec = pod(workload)["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    assert spec["automountServiceAccountToken"] is False
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]


@workloads
def test_every_volume_that_is_mounted_exists(workload: dict[str, Any]) -> None:
    spec = pod(workload)["spec"]
    volumes = {volume["name"] for volume in spec["volumes"]}
    claims = {claim["metadata"]["name"] for claim in of_kind("PersistentVolumeClaim")}
    for container in spec["containers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    for volume in spec["volumes"]:
        if "persistentVolumeClaim" in volume:
            assert volume["persistentVolumeClaim"]["claimName"] in claims


@pytest.mark.parametrize("service", of_kind("Service"), ids=name_of)
def test_service_finds_pods_with_its_ports(service: dict[str, Any]) -> None:
    selector = service["spec"].get("selector")
    if selector is None:
        assert service["metadata"]["name"] == "nothing"
        return
    chosen = [
        workload
        for workload in of_kind(*WORKLOADS)
        if selector.items() <= pod(workload)["metadata"]["labels"].items()
    ]
    assert len(chosen) == 1
    names = {
        port["name"]
        for container in pod(chosen[0])["spec"]["containers"]
        for port in container["ports"]
    }
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= names


def test_selectors_of_budgets_and_policies_choose_something() -> None:
    labels = [pod(workload)["metadata"]["labels"] for workload in of_kind(*WORKLOADS)]
    for found in of_kind("PodDisruptionBudget"):
        wanted = found["spec"]["selector"]["matchLabels"]
        assert any(wanted.items() <= have.items() for have in labels), name_of(found)
    for found in of_kind("NetworkPolicy"):
        wanted = found["spec"]["podSelector"].get("matchLabels", {})
        assert any(wanted.items() <= have.items() for have in labels), name_of(found)


def test_autoscaler_scales_a_deployment_without_a_fixed_size() -> None:
    (scaler,) = of_kind("HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    (deployment,) = [
        found for found in of_kind(target["kind"]) if found["metadata"]["name"] == target["name"]
    ]
    assert "replicas" not in deployment["spec"], "each apply would reset what the scaler chose"


def _core(command: list[str]) -> list[str]:
    """A command without what differs between machines: addresses, counts, paths."""
    words = [word for word in command if word not in {"python", "exec"}]
    kept = []
    skip = False
    varying = {
        *("--host", "--port", "--workers", "--model", "--models", "--served-model-name"),
        *("--timeout-graceful-shutdown", "--schedule", "--metrics-port"),
    }
    for word in words:
        if skip or word in varying:
            skip = not skip
            continue
        kept.append(word)
    return kept


def kubernetes_commands() -> dict[str, list[str]]:
    return {
        workload["metadata"]["name"]: [*container["command"], *container.get("args", [])]
        for workload in of_kind("Deployment")
        for container in pod(workload)["spec"]["containers"]
    }


def compose() -> dict[str, Any]:
    return yaml.safe_load((INFRA / "compose.yaml").read_text())


def test_production_runs_the_processes_of_the_procfile_with_its_commands() -> None:
    commands = {**procfile.read(), voice.PROCESS: voice.COMMAND}
    wanted = {name: _core(shlex.split(command)) for name, command in commands.items()}
    assert {name: _core(command) for name, command in kubernetes_commands().items()} == wanted

    services = compose()["services"]
    dockerfile = (INFRA / "Dockerfile").read_text()
    spoken, served = map(json.loads, re.findall(r"^CMD (\[.*\])$", dockerfile, re.MULTILINE))
    assert "command" not in services["voice"]
    engine = ["python", "-m", "inference", "serve", *services["engine"]["command"]]
    found = {
        "web": _core(served),
        "voice": _core(spoken),
        "engine": _core(engine),
        **{name: _core(services[name]["command"]) for name in BACKGROUND},
    }
    assert found == wanted


def test_every_engine_of_the_default_model_runs_at_its_fastest_within_half_a_percent() -> None:
    """Decision 0096: int8 activations where the machine can, prompt lookup as it is by default."""
    overlay = yaml.safe_load((INFRA / "kubernetes/overlays/cpu/kustomization.yaml").read_text())
    (patch,) = overlay["patches"]
    (change,) = yaml.safe_load(patch["patch"])
    for command in (
        shlex.split(procfile.read()["engine"]),
        compose()["services"]["engine"]["command"],
        kubernetes_commands()["engine"],
        change["value"],
    ):
        assert command[command.index("--int8-activations") + 1] == "auto"
        assert "--no-prompt-lookup" not in command


def test_engine_image_can_compile_its_kernels_and_run_them() -> None:
    """Without them the engine serves by torch alone, several times slower, and says so in a log."""
    dockerfile = (INFRA / "Dockerfile").read_text()
    engine = dockerfile[dockerfile.index(" AS engine\n") :].split("FROM ")[0]
    assert re.search(r"apt-get install [^&]*g\+\+", engine)
    assert "XDG_CACHE_HOME=/tmp" in engine, "the root is read-only"
    assert "COPY --from=kernels /src/inference/kernels/cpu/built/" in engine
    assert compose()["services"]["engine"]["tmpfs"] == ["/tmp:exec"], "Docker's default is noexec"


def test_product_image_holds_the_encoder_compiled_and_its_source() -> None:
    """A library is named by its source, so that neither is taken for the other's."""
    dockerfile = (INFRA / "Dockerfile").read_text()
    product = dockerfile[dockerfile.index(" AS product\n") :]
    assert "COPY safety/ safety/" in product
    assert "COPY --from=encoder /src/safety/score/kernels/built/" in product
    encoder = dockerfile[dockerfile.index(" AS encoder\n") :].split("FROM ")[0]
    assert "python -m safety.score.kernels.ahead" in encoder


def test_every_deployment_says_which_proxies_it_trusts_and_the_server_believes_none() -> None:
    """uvicorn's own reading of `X-Forwarded-For` trusts whoever connects from this machine."""
    assert "--no-proxy-headers" in procfile.read()["web"]
    for name, command in kubernetes_commands().items():
        assert name != "web" or "--no-proxy-headers" in command
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    settings = next(g for g in kustomization["configMapGenerator"] if "literals" in g)
    assert "PARLEY_TRUSTED_PROXIES=1" in settings["literals"]
    assert any(
        one.startswith("PARLEY_INTERNAL_NETWORKS=10.0.0.0/8,") for one in settings["literals"]
    )
    (subnet,) = compose()["networks"]["default"]["ipam"]["config"]
    trusted = compose()["services"]["web"]["environment"]["PARLEY_TRUSTED_PROXIES"]
    assert trusted == f"${{PARLEY_TRUSTED_PROXIES:-{subnet['subnet']}}}"
    internal = compose()["services"]["web"]["environment"]["PARLEY_INTERNAL_NETWORKS"]
    assert internal == f"${{PARLEY_INTERNAL_NETWORKS:-{subnet['subnet']}}}"


def test_every_deployment_serves_by_our_http_protocol() -> None:
    """uvicorn's own reads the body beside an offer of HTTP/2 as the next request."""
    option = "--http backend.api.http_protocol:HttpProtocol"
    dockerfile = (INFRA / "Dockerfile").read_text()
    [served] = [line for line in dockerfile.splitlines() if line.startswith('CMD ["uvicorn"')]
    assert option in procfile.read()["web"]
    assert option in " ".join(kubernetes_commands()["web"])
    assert option in " ".join(json.loads(served.removeprefix("CMD ")))


@pytest.mark.parametrize("name", ["relay", "aggregate", "detect_abuse"])
def test_metrics_port_of_background_processes_is_an_option_that_exists(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert "--metrics-port" in command.create_parser("manage.py", name).format_help()


def test_engine_options_of_every_deployment_exist() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "inference", "serve", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    used = set(re.findall(r"--[a-z-]+", procfile.read()["engine"]))
    for path in {*(INFRA / "kubernetes").rglob("*.yaml")} - {VLLM}:
        for match in re.findall(r"args: \[(.*)\]|value: \[(.*)\]", path.read_text()):
            used |= set(re.findall(r"--[a-z-]+", " ".join(match)))
    assert used <= set(re.findall(r"--[a-z-]+", shown))


def test_every_variable_that_a_deployment_sets_is_documented() -> None:
    documented = set(re.findall(r"^\| `([A-Z_]+)`", OPERATIONS.read_text(), re.MULTILINE))
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    settings = next(g for g in kustomization["configMapGenerator"] if "literals" in g)
    in_kubernetes = {literal.split("=")[0] for literal in settings["literals"]}
    in_compose = {
        name
        for service in compose()["services"].values()
        for name in service.get("environment", {})
        if name.startswith("PARLEY_")
    }
    assert in_kubernetes | in_compose <= documented


def test_probes_ask_for_paths_that_exist(client: Any) -> None:
    for workload in of_kind("Deployment"):
        if workload["metadata"]["name"] != "web":
            continue
        (container,) = pod(workload)["spec"]["containers"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]
            assert client.get(path).status_code != 404


OPERATIONS = ROOT / "docs" / "operations.md"


@pytest.mark.parametrize(
    "path", sorted(INFRA.rglob("*pools*.toml")), ids=lambda path: str(path.relative_to(INFRA))
)
def test_pool_file_is_accepted_by_the_gateway(path: Path) -> None:
    address = "http://127.0.0.1:8001"
    pools = read_pools(path, {"PARLEY_ENGINE_URL": address, "PARLEY_VOICE_URL": address})
    # The files in `models` come beside another one, which has the default.
    assert pools.models if path.parent.name == "models" else pools.find("auto")


def test_pool_file_of_kubernetes_is_the_default_one_without_its_replica() -> None:
    """There engines announce themselves, each pod for itself."""
    (ours,) = tomllib.loads((BASE / "pools.toml").read_text())["model"]
    (default,) = tomllib.loads((INFRA / "pools.toml").read_text())["model"]
    assert default.pop("replica")
    assert ours == default


def test_compose_demands_every_secret() -> None:
    text = (INFRA / "compose.yaml").read_text()
    for name in ("POSTGRES_PASSWORD", "VALKEY_PASSWORD", "PARLEY_KEYS", "GRAFANA_PASSWORD"):
        assert f"${{{name}:?" in text
        assert f"\n{name}=\n" in (INFRA / "compose.env.example").read_text(), "no default secret"


def rendered(environment: dict[str, str], part: Any = None) -> Any:
    """The Compose file, or a part of it, as `docker compose config` fills it in: values of the
    parsed file, which stay text (`${NAME}`, `:-` and `:?`)."""

    def value(match: re.Match[str]) -> str:
        name, default, reason = match.groups()
        found = environment.get(name) or default
        assert reason is None or found, f"{name}: {reason}"
        return found or ""

    part = compose() if part is None else part
    if isinstance(part, dict):
        return {name: rendered(environment, inner or "") for name, inner in part.items()}
    if isinstance(part, list):
        return [rendered(environment, inner) for inner in part]
    if isinstance(part, str):
        return re.sub(r"\$\{([A-Z_]+)(?::-([^}]*)|:\?([^}]*))?\}", value, part)
    return part


def test_compose_lets_engines_reach_no_store() -> None:
    services, networks = compose()["services"], compose()["networks"]
    assert networks["engines"] == {"internal": True}
    of = {name: set(service.get("networks", ["default"])) for name, service in services.items()}
    assert of["engine"] == of["voice"] == {"engines"}
    for name in ("postgres", "valkey", "kafka"):
        assert of[name] == {"default"}, name
    assert of["grafana"] == of["alertmanager"] == {"monitoring"}
    assert of["web"] == {"default", "engines"}


def test_engines_of_kubernetes_get_single_secrets() -> None:
    """Whoever takes the pod of an engine has no key of the product's."""
    for path in sorted((INFRA / "kubernetes" / "components").glob("*/*.yaml")):
        text = path.read_text()
        assert "secretRef:" not in text, path
        assert "key: PARLEY_KEYS" not in text, path


def test_packages_of_the_page_run_nothing_when_installed() -> None:
    page = INFRA.parent / "frontend"
    assert "\nignore-scripts=true\n" in (page / ".npmrc").read_text()
    assert "npm ci --ignore-scripts " in (INFRA / "Dockerfile").read_text()


COMPOSE_SECRETS = dict.fromkeys(
    (
        "POSTGRES_PASSWORD",
        "VALKEY_PASSWORD",
        "PARLEY_KEYS",
        "PARLEY_ENGINE_API_KEY",
        "GRAFANA_PASSWORD",
    ),
    "a-secret",
)


def test_pools_have_one_queue_in_every_deployment_and_compose_lets_it_be_turned_off() -> None:
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    settings = next(g for g in kustomization["configMapGenerator"] if "literals" in g)
    assert "PARLEY_SHARED_QUEUE=true" in settings["literals"]

    services = rendered(COMPOSE_SECRETS)["services"]
    for name in ("web", *BACKGROUND):
        environment = services[name]["environment"]
        assert environment["PARLEY_SHARED_QUEUE"] == "true", name
        assert environment["REDIS_URL"] == "redis://:a-secret@valkey:6379/0", name
    off = rendered({**COMPOSE_SECRETS, "PARLEY_SHARED_QUEUE": "0"})["services"]
    assert off["web"]["environment"]["PARLEY_SHARED_QUEUE"] == "0"


# --- Prometheus and Grafana ------------------------------------------------------------------


@cache
def exported_metrics() -> set[str]:
    """The names under which the product's metrics can be queried, taken from the code itself."""
    from prometheus_client import REGISTRY

    # Metrics exist once their modules are imported.
    import backend.api.metrics
    import backend.generation.metrics  # noqa: F401
    import billing.metrics  # noqa: F401
    import safety.audit.metrics  # noqa: F401
    from inference.server.gpus import FAMILIES
    from inference.server.metrics import Metrics

    names = {"up", *FAMILIES}
    for registry in (REGISTRY, Metrics("any").registry):
        for metric in registry.collect():
            suffixes = {
                "counter": ["_total"],
                "histogram": ["_bucket", "_sum", "_count"],
            }.get(metric.type, [""])
            names |= {metric.name + suffix for suffix in suffixes}
    return names


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((INFRA / "prometheus" / "rules.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> Iterator[str]:
    for rule in rules():
        yield rule["expr"]
    for path in (INFRA / "grafana" / "dashboards").glob("*.json"):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield target["expr"]
    scaled = INFRA / "kubernetes" / "components" / "keda" / "scaled-object.yaml"
    for trigger in yaml.safe_load(scaled.read_text())["spec"]["triggers"]:
        yield trigger["metadata"]["query"]


def test_every_metric_that_is_asked_for_is_exported() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    asked = {
        name
        for expression in expressions()
        for name in re.findall(r"\b(?:parley|vllm)[:_][a-z0-9_:]+|\bDCGM_\w+|\bup\b", expression)
    }
    assert asked, "the rules and dashboards ask for something"
    assert asked <= exported_metrics() | recorded


def test_every_alert_says_what_is_wrong_and_where_to_read_on() -> None:
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", OPERATIONS.read_text(), re.MULTILINE)
    }
    for rule in rules():
        if "alert" in rule:
            assert rule["labels"]["severity"] in {"page", "ticket"}
            page, _, anchor = rule["annotations"]["runbook"].partition("#")
            assert page == "docs/operations.md"
            assert anchor in anchors, f"{rule['alert']} points at a missing section"


def test_dashboards_have_distinct_names_and_no_overlapping_panels() -> None:
    seen = set()
    for path in (INFRA / "grafana" / "dashboards").glob("*.json"):
        dashboard = json.loads(path.read_text())
        assert dashboard["uid"] == path.stem
        seen.add(dashboard["title"])
        cells = [
            (x, y)
            for panel in dashboard["panels"]
            for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
            for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
        ]
        assert len(cells) == len(set(cells))
    assert len(seen) == len(list((INFRA / "grafana" / "dashboards").glob("*.json")))
