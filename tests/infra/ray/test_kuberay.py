"""Ray in Kubernetes: the component `kuberay` as it is rendered, beside what `infra/ray` says.

KubeRay's definitions are in no package: the fields that a RayService may have are listed here, as
its API reference for v1 (KubeRay 1.5) has them. The pods in it are checked by Kubernetes' schemas.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from infra.launcher.procfile import ROOT
from infra.ray.pool import STOP_MARGIN_S, PoolOnRay
from tests.infra.ray.cluster import settings_of_every_node
from tests.infra.test_kubernetes import (
    KUBERNETES,
    Manifest,
    closed,
    comparable,
    find,
    helm,
    kustomize,
    name_of,
    refused,
)

TEXT = {"type": "string"}
TEXTS = {"type": "object", "additionalProperties": TEXT}
COUNT = {"type": "integer", "minimum": 0}
ANY: dict[str, Any] = {}
CREDENTIAL = closed(value=TEXT, valueFrom={"type": "object"})
AUTOSCALER = closed(
    image=TEXT,
    imagePullPolicy=TEXT,
    resources={"type": "object"},
    env={"type": "array"},
    envFrom={"type": "array"},
    volumeMounts={"type": "array"},
    securityContext={"type": "object"},
    idleTimeoutSeconds=COUNT,
    upscalingMode={"enum": ["Default", "Aggressive", "Conservative"]},
    version={"enum": ["v1", "v2"]},
)
HEAD = closed(
    ("template",),
    serviceType=TEXT,
    headService=ANY,
    enableIngress={"type": "boolean"},
    rayStartParams=TEXTS,
    resources=TEXTS,
    labels=TEXTS,
    template=ANY,
)
WORKERS = closed(
    ("groupName", "minReplicas", "maxReplicas", "template"),
    groupName=TEXT,
    suspend={"type": "boolean"},
    replicas=COUNT,
    minReplicas=COUNT,
    maxReplicas=COUNT,
    idleTimeoutSeconds=COUNT,
    numOfHosts=COUNT,
    rayStartParams=TEXTS,
    resources=TEXTS,
    labels=TEXTS,
    scaleStrategy=ANY,
    template=ANY,
)
RAY_SERVICE = closed(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayService"},
    metadata=ANY,
    spec=closed(
        ("serveConfigV2", "rayClusterConfig"),
        serveConfigV2=TEXT,
        upgradeStrategy=closed(type={"enum": ["NewCluster", "None"]}),
        serveService=ANY,
        excludeHeadPodFromServeSvc={"type": "boolean"},
        rayClusterDeletionDelaySeconds=COUNT,
        rayClusterConfig=closed(
            ("headGroupSpec",),
            rayVersion=TEXT,
            suspend={"type": "boolean"},
            managedBy=TEXT,
            authOptions=closed(mode={"enum": ["disabled", "token"]}),
            enableInTreeAutoscaling={"type": "boolean"},
            headServiceAnnotations=TEXTS,
            autoscalerOptions=AUTOSCALER,
            gcsFaultToleranceOptions=closed(
                ("redisAddress",),
                redisAddress=TEXT,
                redisUsername=CREDENTIAL,
                redisPassword=CREDENTIAL,
                externalStorageNamespace=TEXT,
            ),
            headGroupSpec=HEAD,
            workerGroupSpecs={"type": "array", "items": WORKERS},
        ),
    ),
)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> list[Manifest]:
    """An overlay of one's own, with Ray as the engine."""
    folder = tmp_path_factory.mktemp("own") / "kubernetes"
    shutil.copytree(KUBERNETES, folder)
    own = folder / "overlays" / "own"
    own.mkdir()
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["../../base"],
        "components": [f"../../components/{name}" for name in ("kuberay", "release")],
    }
    (own / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return kustomize(own)


@pytest.fixture(scope="module")
def service(rendered: list[Manifest]) -> Manifest:
    return find(rendered, "RayService", "engine")


def templates(service: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    cluster = service["spec"]["rayClusterConfig"]
    yield "head", cluster["headGroupSpec"]["template"]
    for group in cluster["workerGroupSpecs"]:
        yield group["groupName"], group["template"]


def test_ray_service_and_all_beside_it_are_accepted_by_the_schemas(
    rendered: list[Manifest], service: Manifest
) -> None:
    jsonschema.validate(service, RAY_SERVICE)
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**pod["metadata"], "name": name}}
        | {"spec": pod["spec"]}
        for name, pod in templates(service)
    ]
    assert refused([one for one in rendered if one is not service] + pods) == []
    wrong = {**pods[0], "spec": {**pods[0]["spec"], "container": []}}
    assert "container" in "\n".join(refused([wrong]))


def test_chart_gives_what_kustomize_gives_on_ray(rendered: list[Manifest]) -> None:
    assert comparable(helm({"engine": "ray"})) == comparable(rendered)


def test_chart_takes_values_for_ray() -> None:
    chosen = {
        "engine": "ray",
        "keda": {"enabled": True},  # nothing that follows what waits twice
        "ray": {
            "redisAddress": "redis.ray:6380",
            "operatorNamespace": "ray-system",
            "serve": "applications: []\n",
            "maxEngines": 3,
        },
        "workloads": {"engine": {"replicas": 2, "nodeSelector": {"gpu": "h100"}}},
    }
    made = helm(chosen)
    service = find(made, "RayService", "engine")
    jsonschema.validate(service, RAY_SERVICE)
    cluster = service["spec"]["rayClusterConfig"]
    [workers] = cluster["workerGroupSpecs"]
    assert service["spec"]["serveConfigV2"] == "applications: []\n"
    assert cluster["gcsFaultToleranceOptions"]["redisAddress"] == "redis.ray:6380"
    assert (workers["replicas"], workers["maxReplicas"]) == (2, 3)
    assert workers["template"]["spec"]["nodeSelector"] == {"gpu": "h100"}
    door = find(made, "NetworkPolicy", "ray-head-is-reached-by-its-operator")["spec"]["ingress"]
    assert "ray-system" in str(door)
    assert not {"ScaledObject", "HorizontalPodAutoscaler"} & {
        one["kind"] for one in made if one["metadata"]["name"] == "engine"
    }


def test_pods_of_ray_are_restricted_and_run_the_released_image(service: Manifest) -> None:
    for name, pod in templates(service):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        [container] = spec["containers"]
        assert container["image"] == "registry.example.com/parley-ray:latest"
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        volumes = {volume["name"] for volume in spec["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        # KubeRay's own probes ask Serve's proxy, which is disabled.
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()


def test_ray_service_serves_what_the_serve_file_says(service: Manifest) -> None:
    text = (ROOT / "infra" / "ray" / "serve.yaml").read_text()
    assert yaml.safe_load(service["spec"]["serveConfigV2"]) == yaml.safe_load(text)


def test_web_processes_share_the_queue_that_engines_follow(rendered: list[Manifest]) -> None:
    [settings] = [one["data"] for one in rendered if "PARLEY_DRAIN_S" in one.get("data", {})]
    assert settings["PARLEY_SHARED_QUEUE"] == "true"


def test_every_node_has_the_settings_of_the_cluster(service: Manifest) -> None:
    for name, pod in templates(service):
        [container] = pod["spec"]["containers"]
        given = {one["name"]: one["value"] for one in container["env"] if "value" in one}
        assert settings_of_every_node().items() <= given.items(), name


def test_engine_pods_have_room_for_one_engine_and_drain_before_they_end(
    rendered: list[Manifest], service: Manifest
) -> None:
    [application] = yaml.safe_load(service["spec"]["serveConfigV2"])["applications"]
    pool = PoolOnRay.model_validate(application["args"])
    [workers] = service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    pod = workers["template"]
    [container] = pod["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == pool.gpus
    assert container["ports"][0]["containerPort"] == pool.port
    assert workers["maxReplicas"] == pool.scaling.max_replicas
    drain = " ".join(container["lifecycle"]["preStop"]["exec"]["command"])
    assert f"inference.drain --url http://$POD_IP:{pool.port}" in drain
    timeout = float(drain.rpartition("--timeout ")[2].strip('"'))
    assert pod["spec"]["terminationGracePeriodSeconds"] >= timeout + STOP_MARGIN_S

    labels = pod["metadata"]["labels"]
    budget = find(rendered, "PodDisruptionBudget", "engine")["spec"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()
    assert (budget.get("maxUnavailable"), budget["minAvailable"]) == (None, 1)


def test_pods_of_ray_reach_each_other_the_registry_and_nothing_else(
    rendered: list[Manifest], service: Manifest
) -> None:
    policies = [one for one in rendered if one["kind"] == "NetworkPolicy"]

    def allowed(labels: dict[str, str], direction: str) -> set[str]:
        return {
            name_of(one)[1]
            for one in policies
            if one["spec"].get(direction)
            and one["spec"]["podSelector"].get("matchLabels", {}).items() <= labels.items()
        }

    by_name = dict(templates(service))
    engine, head = (by_name[name]["metadata"]["labels"] for name in ("engine", "head"))
    both = {"names-are-resolved", "clients-of-the-cache", "ray-talks-to-itself"}
    assert allowed(engine, "egress") == both
    assert allowed(engine, "ingress") == {
        *("ray-talks-to-itself", "engine-is-reached-by-web", "metrics-are-read-by-prometheus"),
    }
    assert allowed(head, "egress") == {*both, "ray-head-asks-for-pods"}
    assert allowed(head, "ingress") == {
        *("ray-talks-to-itself", "ray-head-is-reached-by-its-operator"),
    }


def test_component_names_only_files_that_exist() -> None:
    component: Path = KUBERNETES / "components" / "kuberay"
    named = yaml.safe_load((component / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in component.iterdir()} == {*named, "kustomization.yaml"}
