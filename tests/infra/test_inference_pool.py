"""vLLM behind a gateway with Gateway API's inference extension: the component `inference-pool`.

The extension's definitions are in no package: the fields are listed here, as its custom resource
definitions have them (`InferencePool` v1, `InferenceObjective` v1alpha2).
"""

import shutil
from pathlib import Path
from typing import Any

import helm_python
import jsonschema
import pytest
import yaml

from backend.generation.pools.config import read_pools
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

GROUP = {
    "type": "string",
    "maxLength": 253,
    "pattern": r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
}
KIND = {"type": "string", "maxLength": 63, "pattern": r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"}
NAME = {"type": "string", "minLength": 1, "maxLength": 253}
PORT = closed(("number",), number={"type": "integer", "minimum": 1, "maximum": 65535})
LABEL = {
    "type": "string",
    "maxLength": 63,
    "pattern": r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
}


def resource(api: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return closed(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion={"const": api},
        kind={"const": kind},
        metadata={},
        spec=spec,
    )


DEFINITIONS = {
    "InferencePool": resource(
        "inference.networking.k8s.io/v1",
        "InferencePool",
        closed(
            ("endpointPickerRef", "selector", "targetPorts"),
            # A rule of theirs: a Service, which it is where no kind is named, needs its port.
            endpointPickerRef=closed(
                ("name", "port"),
                group=GROUP,
                kind={"const": "Service"},
                name=NAME,
                port=PORT,
                failureMode={"enum": ["FailOpen", "FailClose"]},
            ),
            selector=closed(
                ("matchLabels",),
                matchLabels={
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 64,
                    "additionalProperties": LABEL,
                },
            ),
            # One, in the first releases of v1.
            targetPorts={"type": "array", "items": PORT, "minItems": 1, "maxItems": 1},
        ),
    ),
    "InferenceObjective": resource(
        "inference.networking.x-k8s.io/v1alpha2",
        "InferenceObjective",
        closed(
            ("poolRef",),
            poolRef=closed(("name",), group=GROUP, kind=KIND, name=NAME),
            priority={"type": "integer"},
        ),
    ),
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> list[Manifest]:
    """An overlay of one's own: vLLM in an inference pool."""
    folder = tmp_path_factory.mktemp("own") / "kubernetes"
    shutil.copytree(KUBERNETES, folder)
    own = folder / "overlays" / "own"
    own.mkdir()
    components = ("vllm-engine", "inference-pool", "release")
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["../../base"],
        "components": [f"../../components/{name}" for name in components],
    }
    (own / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return kustomize(own)


def test_pool_and_all_beside_it_are_accepted_by_the_schemas(rendered: list[Manifest]) -> None:
    extensions = [one for one in rendered if one["kind"] in DEFINITIONS]
    assert {one["kind"] for one in extensions} == set(DEFINITIONS)
    for one in extensions:
        jsonschema.validate(one, DEFINITIONS[one["kind"]])
    assert refused([one for one in rendered if one["kind"] not in DEFINITIONS]) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("endpointPickerRef", {"name": "engine-picker"}),
        ("targetPorts", []),
        ("targetPortNumber", 8001),
        ("selector", {"app": "engine"}),
    ],
)
def test_definition_refuses_a_wrong_pool(
    rendered: list[Manifest], field: str, value: object
) -> None:
    """Among them what the versions before v1 had."""
    pool = find(rendered, "InferencePool", "engine")
    wrong = {**pool, "spec": {**pool["spec"], field: value}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, DEFINITIONS["InferencePool"])


def test_chart_gives_what_kustomize_gives_in_an_inference_pool(rendered: list[Manifest]) -> None:
    made = helm({"engine": "vllm", "inferencePool": {"enabled": True}})
    assert comparable(made) == comparable(rendered)
    without = {name_of(one) for one in helm({"engine": "vllm"})}
    assert not {("InferencePool", "engine"), ("Deployment", "engine-picker")} & without


def test_chart_takes_class_and_namespace_of_the_inference_gateway() -> None:
    made = helm(
        {
            "door": "gateway",
            "gatewayClass": "for-people",
            "engine": "vllm",
            "inferencePool": {
                "enabled": True,
                "gatewayClass": "for-engines",
                "gatewayNamespace": "inference-system",
            },
        }
    )
    classes = {
        name: find(made, "Gateway", name)["spec"]["gatewayClassName"]
        for name in ("web", "inference")
    }
    assert classes == {"web": "for-people", "inference": "for-engines"}
    assert "hostnames" not in find(made, "HTTPRoute", "inference")["spec"]
    policies = [one for one in made if one["kind"] == "NetworkPolicy"]
    assert "your-gateway" not in str(policies)
    assert sum("inference-system" in str(one) for one in policies) == 3


@pytest.mark.parametrize("engine", ["parley", "ray", ""])
def test_chart_refuses_a_pool_of_engines_whose_metrics_no_picker_knows(engine: str) -> None:
    with pytest.raises(helm_python.HelmValuesError, match="engine"):
        helm({"engine": engine, "inferencePool": {"enabled": True}})


def test_route_leads_to_the_pool_and_the_pool_to_its_pods_and_picker(
    rendered: list[Manifest],
) -> None:
    [rule] = find(rendered, "HTTPRoute", "inference")["spec"]["rules"]
    assert rule["backendRefs"] == [
        {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "engine"}
    ]
    pool = find(rendered, "InferencePool", "engine")["spec"]
    engine = find(rendered, "Deployment", "engine")["spec"]["template"]
    labels = engine["metadata"]["labels"]
    assert pool["selector"]["matchLabels"].items() <= labels.items()
    # The picker's own pod is none of the pool's.
    picker = find(rendered, "Deployment", "engine-picker")["spec"]["template"]
    assert not pool["selector"]["matchLabels"].items() <= picker["metadata"]["labels"].items()
    [container] = engine["spec"]["containers"]
    assert pool["targetPorts"] == [{"number": container["ports"][0]["containerPort"]}]
    service = find(rendered, "Service", pool["endpointPickerRef"]["name"])["spec"]
    assert service["ports"][0]["port"] == pool["endpointPickerRef"]["port"]["number"]
    assert service["selector"].items() <= picker["metadata"]["labels"].items()
    assert find(rendered, "InferenceObjective", "yields-to-parley")["spec"]["priority"] < 0


def test_engines_of_a_pool_do_not_announce_themselves(rendered: list[Manifest]) -> None:
    pod = find(rendered, "Deployment", "engine")["spec"]["template"]["spec"]
    assert [one["name"] for one in pod["containers"]] == ["vllm"]


def test_picker_is_restricted_and_may_look_at_pods_alone(rendered: list[Manifest]) -> None:
    pod = find(rendered, "Deployment", "engine-picker")["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    rules = find(rendered, "Role", "engine-picker")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "watch", "list"}
    assert [rule["resources"] for rule in rules if rule["apiGroups"] == [""]] == [["pods"]]
    [subject] = find(rendered, "RoleBinding", "engine-picker")["subjects"]
    assert subject["name"] == pod["serviceAccountName"]
    configured = yaml.safe_load(container["args"][container["args"].index("--config-text") + 1])
    plugins = {one["type"] for one in configured["plugins"]}
    [profile] = configured["schedulingProfiles"]
    assert {one["pluginRef"] for one in profile["plugins"]} == plugins


def test_gateway_picker_and_engines_reach_each_other(rendered: list[Manifest]) -> None:
    def allowed(workload: str, direction: str) -> set[str]:
        labels = find(rendered, "Deployment", workload)["spec"]["template"]["metadata"]["labels"]
        return {
            name_of(one)[1]
            for one in rendered
            if one["kind"] == "NetworkPolicy"
            and one["spec"].get(direction)
            and one["spec"]["podSelector"].get("matchLabels", {}).items() <= labels.items()
        }

    assert allowed("engine-picker", "ingress") == {"picker-is-reached-by-the-inference-gateway"}
    assert allowed("engine-picker", "egress") == {
        "names-are-resolved",
        "picker-reads-engines-and-pods",
    }
    assert {
        "engine-is-reached-by-the-inference-gateway",
        "engine-is-reached-by-its-picker",
    } <= allowed("engine", "ingress")
    assert "clients-of-the-inference-gateway" in allowed("web", "egress")


def test_pools_file_of_the_component_is_one_replica_at_the_gateway(
    rendered: list[Manifest],
) -> None:
    file = KUBERNETES / "components" / "inference-pool" / "pools.example.toml"
    [pool] = read_pools(file, {"PARLEY_ENGINE_API_KEY": "key"}).models
    [replica] = pool.replicas
    [listener] = find(rendered, "Gateway", "inference")["spec"]["listeners"]
    assert replica.url.endswith(f":{listener['port']}")
    [container] = find(rendered, "Deployment", "engine")["spec"]["template"]["spec"]["containers"]
    assert pool.upstream_model in container["args"]


def test_component_names_only_files_that_exist() -> None:
    component: Path = KUBERNETES / "components" / "inference-pool"
    named = yaml.safe_load((component / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in component.iterdir()} == {
        *named,
        "kustomization.yaml",
        "pools.example.toml",
    }
