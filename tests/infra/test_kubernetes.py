"""The manifests as a cluster would get them, rendered by kustomize and Helm, and the real schemas.

No cluster is started. What the manifests say beside the code is in `test_deployment.py`.
"""

import atexit
import json
import re
import shutil
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import kubernetes_validate.utils
import pytest
import yaml

from infra.launcher import voice
from infra.launcher.frontend import find_node, install
from infra.launcher.procfile import ROOT

KUBERNETES = ROOT / "infra" / "kubernetes"
OVERLAYS = sorted(path.name for path in (KUBERNETES / "overlays").iterdir())
CRDS = Path(__file__).parent / "crds"
# The oldest that the chart allows and the schemas know, and the newest.
VERSIONS = ("1.30", "1.37")
BUILT_IN = (
    *("v1", "apps/v1", "batch/v1", "autoscaling/v2", "policy/v1", "networking.k8s.io/v1"),
    "rbac.authorization.k8s.io/v1",
)

Manifest = dict[str, Any]

# The validator reads a megabyte of definitions for each manifest; and YAML is read by libyaml.
kubernetes_validate.utils.schema_contents = cache(kubernetes_validate.utils.schema_contents)
_read_all = partial(yaml.load_all, Loader=yaml.CSafeLoader)


def kustomize(folder: Path) -> list[Manifest]:
    """What `kubectl apply -k` would send; every field of every resource."""
    kubectl = Path(sys.executable).parent / "kubectl"
    done = subprocess.run(
        [kubectl, "kustomize", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(_read_all(done.stdout))


@cache
def overlay(name: str) -> list[Manifest]:
    return kustomize(KUBERNETES / "overlays" / name)


def helm(values: dict[str, Any]) -> list[Manifest]:
    """What `helm install parley --namespace parley` would send."""
    with helm_python.Chart.load(str(KUBERNETES)) as chart:
        rendered = chart.render(values=values, name="parley", namespace="parley")
    return [found for text in rendered.values() for found in _read_all(text) if found]


def name_of(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def find(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    (found,) = [one for one in manifests if name_of(one) == (kind, name)]
    return found


def refused(manifests: list[Manifest]) -> list[str]:
    """What the schemas say against `manifests`: Kubernetes' own, strictly, and those of CRDs."""
    problems = [
        problem
        for manifest in manifests
        if manifest["apiVersion"] in BUILT_IN
        for version in VERSIONS
        if (problem := _problem(json.dumps(manifest), version))
    ]
    custom = [one for one in manifests if one["apiVersion"] not in BUILT_IN]
    return problems + (_refused_by_definitions(custom) if custom else [])


@cache
def _problem(manifest: str, version: str) -> str:
    """Overlays share most of their manifests, and one costs the validator 40 ms."""
    try:
        kubernetes_validate.validate(json.loads(manifest), version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{version} {name_of(json.loads(manifest))}: {error.message}"
    return ""


def _refused_by_definitions(manifests: list[Manifest]) -> list[str]:
    validator = _validator()
    assert validator.stdin is not None and validator.stdout is not None
    validator.stdin.write(json.dumps(manifests) + "\n")
    validator.stdin.flush()
    return list(json.loads(validator.stdout.readline()))


@cache
def _validator() -> "subprocess.Popen[str]":
    """One for all: Node and the definitions take a third of a second to load."""
    node = find_node()
    if not (CRDS / "node_modules").exists():
        install(node, CRDS)
    started = subprocess.Popen(
        ["node", "validate.mjs"],
        cwd=CRDS,
        env=node.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(started.communicate)  # it ends when nothing more is to come
    return started


@pytest.mark.parametrize("name", OVERLAYS)
def test_overlay_is_accepted_by_the_schemas(name: str) -> None:
    assert refused(overlay(name)) == []


def test_schemas_refuse_what_is_wrong() -> None:
    """Of the built-in resources and of the custom ones: a test that cannot fail proves nothing."""
    wrong = json.loads(json.dumps(overlay("gpu")))
    find(wrong, "Deployment", "web")["spec"]["replica"] = 3
    del find(wrong, "ScaledObject", "engine")["spec"]["triggers"]
    problems = "\n".join(refused(wrong))
    assert "replica" in problems
    assert "triggers" in problems


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_pod_runs_a_released_image_in_the_namespace(name: str) -> None:
    images = yaml.safe_load(
        (KUBERNETES / "components" / "release" / "kustomization.yaml").read_text()
    )["images"]
    released = {f"{one['newName']}:{one['newTag']}" for one in images}
    for manifest in overlay(name):
        if manifest["kind"] != "Namespace":
            assert manifest["metadata"]["namespace"] == "parley", name_of(manifest)
        if manifest["kind"] in {"Deployment", "Job"}:
            for container in manifest["spec"]["template"]["spec"]["containers"]:
                assert container["image"] in released, name_of(manifest)


def comparable(manifests: list[Manifest]) -> dict[tuple[str, str], Manifest]:
    """By name, without what the two tools do in ways of their own: hashes in names of config maps
    against a checksum at the pods, a namespace that `helm --create-namespace` makes, hooks."""
    text = json.dumps(manifests)
    for manifest in manifests:
        if manifest["kind"] == "ConfigMap":
            kustomized = manifest["metadata"]["name"]
            plain = "parley-pools" if "pools" in kustomized else "parley-settings"
            text = text.replace(kustomized, plain)
    found = {}
    for manifest in json.loads(text):
        manifest["metadata"].pop("annotations", None) if manifest["kind"] == "Job" else None
        template = manifest.get("spec", {}).get("template", {})
        template.get("metadata", {}).pop("annotations", None)
        if manifest["kind"] != "Namespace":
            found[name_of(manifest)] = manifest
    return found


def _pools(manifests: list[Manifest]) -> str:
    (found,) = [one for one in manifests if "pools.toml" in one.get("data", {})]
    return str(found["data"]["pools.toml"])


@pytest.mark.parametrize("name", OVERLAYS)
def test_chart_gives_what_kustomize_gives(name: str) -> None:
    wanted = overlay(name)
    kinds = {manifest["kind"] for manifest in wanted}
    engine = find(wanted, "Deployment", "engine")["spec"]["template"]["spec"]
    container = engine["containers"][0]
    values = {
        "engine": "vllm" if "vllm" in container["image"] else "parley",
        "keda": {"enabled": "ScaledObject" in kinds},
        "voice": {"enabled": ("Deployment", "voice") in map(name_of, wanted)},
        "pools": _pools(wanted),
        "workloads": {
            "engine": {
                "args": container["args"],
                "resources": container["resources"],
                **({"tolerations": engine["tolerations"]} if "tolerations" in engine else {}),
            }
        },
    }
    assert comparable(helm(values)) == comparable(wanted)


def test_models_of_voice_are_the_products_own() -> None:
    """Neither kustomize nor Helm reads a file that is not below its own folder."""
    (held,) = [one for one in overlay("cpu-voice") if "voice.toml" in one.get("data", {})]
    assert held["data"]["voice.toml"] == voice.POOLS.read_text()


def test_chart_is_well_formed_and_takes_values() -> None:
    assert helm_python.lint(str(KUBERNETES))["errors"] == []
    rendered = helm(
        {
            "host": "talk.example.org",
            "door": "gateway",
            "gatewayClass": "their-class",
            "settings": {"PARLEY_DRAIN_S": "20"},
            "workloads": {"web": {"replicas": 3, "nodeSelector": {"disk": "fast"}}},
            "engine": "",
        }
    )
    assert refused(rendered) == []
    names = {name_of(one) for one in rendered}
    assert not {("Ingress", "web"), ("Deployment", "engine")} & names
    web = find(rendered, "Deployment", "web")["spec"]
    assert (web["replicas"], web["template"]["spec"]["nodeSelector"]) == (3, {"disk": "fast"})
    settings = find(rendered, "ConfigMap", "parley-settings")["data"]
    assert settings["PARLEY_DRAIN_S"] == "20"
    assert settings["PARLEY_PUBLIC_URL"] == "https://talk.example.org"
    assert find(rendered, "HTTPRoute", "web")["spec"]["hostnames"] == ["talk.example.org"]
    changed = helm({"settings": {"PARLEY_DRAIN_S": "21"}})
    template = find(changed, "Deployment", "web")["spec"]["template"]
    assert template["metadata"]["annotations"] != web["template"]["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"door": "window"}, "door"),
        ({"engin": "vllm"}, "engin"),
        ({"workloads": {"web": {"replica": 2}}}, "replica"),
        ({"settings": {"PARLEY_DB_POOL": 20}}, "PARLEY_DB_POOL"),
    ],
)
def test_chart_refuses_wrong_values_by_name(values: dict[str, Any], named: str) -> None:
    with pytest.raises(helm_python.HelmValuesError, match=named):
        helm(values)


def test_gateway_api_stands_in_for_the_ingress(tmp_path: Path) -> None:
    shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    own = tmp_path / "kubernetes" / "overlays" / "own"
    own.mkdir()
    components = ("parley-engine", "gateway-api", "release")
    (own / "kustomization.yaml").write_text(
        yaml.safe_dump(
            {
                "apiVersion": "kustomize.config.k8s.io/v1beta1",
                "kind": "Kustomization",
                "resources": ["../../base"],
                "components": [f"../../components/{name}" for name in components],
            }
        )
    )
    rendered = kustomize(own)
    assert refused(rendered) == []
    assert ("Ingress", "web") not in {name_of(one) for one in rendered}
    (services,) = [find(rendered, "HTTPRoute", "web")["spec"]["rules"]]
    existing = {name for kind, name in map(name_of, rendered) if kind == "Service"}
    assert {ref["name"] for rule in services for ref in rule["backendRefs"]} <= existing


@pytest.mark.parametrize("name", OVERLAYS)
def test_engines_roll_over_and_drain(name: str) -> None:
    """A new pod serves before an old one goes, which ends what it runs; one at a time by others."""
    engine = find(overlay(name), "Deployment", "engine")["spec"]
    assert engine["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    pod = engine["template"]["spec"]
    drain = " ".join(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"])
    [waits_s] = re.findall(r"--timeout (\d+)|time\(\) \+ (\d+)", drain)
    # The engine itself gives what is left 30 s, and its core ten.
    assert pod["terminationGracePeriodSeconds"] >= int("".join(waits_s)) + 60
    assert find(overlay(name), "PodDisruptionBudget", "engine")["spec"]["maxUnavailable"] == 1


def _egress(manifests: list[Manifest], workload: str) -> set[str]:
    """The policies that let a workload's pods connect to something."""
    labels = find(manifests, "Deployment", workload)["spec"]["template"]["metadata"]["labels"]
    return {
        one["metadata"]["name"]
        for one in manifests
        if one["kind"] == "NetworkPolicy"
        and one["spec"].get("egress")
        and one["spec"]["podSelector"].get("matchLabels", {}).items() <= labels.items()
    }


def test_pods_may_connect_to_what_they_need_and_nothing_else() -> None:
    names, database, cache, log = (
        "names-are-resolved",
        "clients-of-the-database",
        "clients-of-the-cache",
        "clients-of-the-event-log",
    )
    internet = "clients-of-the-internet"
    product = {names, database, cache}
    wanted = {
        # Identity providers; a bucket.
        "web": {*product, log, "clients-of-the-engine", internet},
        # Titles through our own API; a bucket.
        "worker": {*product, "clients-of-web", internet},
        # The payment provider; a mail when reconciliation finds a difference.
        "money": {*product, log, "clients-of-the-mail-server", internet},
        # A bucket.
        "data": {*product, internet},
        "webhooks": {*product, "clients-of-the-mail-server", internet},
        "beat": product,
        "relay": {*product, log},
        "aggregator": {*product, log},
        "detector": {*product, log},
        # It announces itself, and fetches nothing.
        "engine": {names, cache},
    }
    found = {workload: _egress(overlay("gpu-parley"), workload) for workload in wanted}
    assert found == wanted
    # vLLM fetches weights from the hub when its volume has none.
    assert _egress(overlay("gpu"), "engine") == {names, cache, internet}
