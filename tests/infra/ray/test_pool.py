"""A pool's arguments, and which bundle computes which rank."""

from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from inference.cli import _parser
from infra.launcher.procfile import ROOT
from infra.ray.pool import PoolOnRay
from infra.ray.ranks import bundles_of_ranks, environment_of

POOL: dict[str, Any] = {"pool": "m", "served_model_name": "m", "model": "/models/m"}
SERVE = ROOT / "infra" / "ray" / "serve.yaml"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"sequence": 8}, "sequence"),
        ({"scaling": {"min_replicas": 3, "max_replicas": 2}}, "min_replicas is 3"),
        ({"tensor_parallel": 2, "replicas_per_node": 1}, "replicas_per_node"),
        ({"placement": "ANYWHERE"}, "placement"),
    ],
)
def test_wrong_arguments_are_refused_by_name(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        PoolOnRay.model_validate(POOL | changes)


def test_engine_accepts_the_command_line_of_each_pool_in_the_example() -> None:
    for application in yaml.safe_load(SERVE.read_text())["applications"]:
        pool = PoolOnRay.model_validate(application["args"])
        assert application["import_path"] == "infra.ray.application:pool"
        given = _parser().parse_args(["serve", *pool.engine_arguments("10.0.0.1", 8001)])
        assert given.model == pool.model
        assert given.max_num_seqs == pool.sequences, "the policy counts with the engine's places"
        assert pool.bundle == {"CPU": pool.cpus, "GPU": pool.gpus}


@pytest.mark.parametrize(
    ("nodes", "bundles"),
    [
        (["a"], [0]),
        (["a", "b"], [0, 1]),
        (["a", "b", "a", "b"], [0, 2, 1, 3]),
        (["b", "a", "c", "b", "a"], [0, 3, 1, 4, 2]),
    ],
)
def test_ranks_of_one_node_are_neighbours_and_the_first_bundle_leads(
    nodes: list[str], bundles: list[int]
) -> None:
    assert bundles_of_ranks(nodes) == bundles


def test_ranks_meet_where_the_first_one_is() -> None:
    own = {"PATH": "/bin"}
    assert environment_of(0, 1, address="10.0.0.1", port=0, own=own) == own
    assert environment_of(1, 4, address="10.0.0.1", port=7, own=own) == {
        **own,
        "RANK": "1",
        "WORLD_SIZE": "4",
        "MASTER_ADDR": "10.0.0.1",
        "MASTER_PORT": "7",
    }
