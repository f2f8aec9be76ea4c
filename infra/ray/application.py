"""From the arguments of a pool to its Serve application: `import_path: infra.ray.application:pool`.

Annotations are evaluated here: Serve reads the parameter's to check the arguments.
"""

from typing import Any

from ray import serve
from ray.serve import Application
from ray.serve.config import AutoscalingConfig, AutoscalingPolicy

from infra.ray.autoscaling import QueuePolicy
from infra.ray.pool import STOP_MARGIN_S, PoolOnRay
from infra.ray.replica import EngineReplica

DEPLOYMENT = "engine"


def pool(args: PoolOnRay) -> Application:
    """The application of one pool: one deployment, whose replicas are engines."""
    decorate: Any = serve.deployment(
        name=DEPLOYMENT,
        autoscaling_config=autoscaling(args),
        **placement(args),
        health_check_period_s=1.0,
        health_check_timeout_s=5.0,
        # No request passes Serve: draining is all in the replica's end.
        graceful_shutdown_wait_loop_s=0.0,
        graceful_shutdown_timeout_s=args.longest_answer_s + STOP_MARGIN_S,
        # A new version serves before an old one drains, a fifth of the replicas at a time.
        max_surge_percent=20,
        rolling_update_percentage=0.2,
    )
    application: Application = decorate(EngineReplica).bind(args)
    return application


def placement(args: PoolOnRay) -> dict[str, Any]:
    """Where a replica runs: its ranks in a placement group, or one rank on one node."""
    actor: dict[str, Any] = {"num_cpus": args.cpus, "num_gpus": args.gpus}
    if args.resources:
        actor["resources"] = args.resources
    options: dict[str, Any] = {"ray_actor_options": actor}
    if args.ranks > 1:
        options["placement_group_bundles"] = [args.bundle] * args.ranks
        options["placement_group_strategy"] = args.placement
    elif args.replicas_per_node:
        options["max_replicas_per_node"] = args.replicas_per_node
    return options


def autoscaling(args: PoolOnRay) -> AutoscalingConfig:
    scaling = args.scaling
    return AutoscalingConfig(
        min_replicas=scaling.min_replicas,
        max_replicas=scaling.max_replicas,
        upscale_delay_s=scaling.up_after_s,
        downscale_delay_s=scaling.down_after_s,
        look_back_period_s=30.0,
        policy=AutoscalingPolicy(
            policy_function=QueuePolicy,
            policy_kwargs={
                "min_replicas": scaling.min_replicas,
                "max_replicas": scaling.max_replicas,
                "places": args.sequences,
                "target_use": scaling.target_use,
                "max_wait_s": scaling.max_wait_s,
            },
        ),
    )
