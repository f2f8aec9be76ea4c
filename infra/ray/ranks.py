"""Which bundle of a placement group computes which rank of an engine, and what a rank has to know.

Ranks of one node follow each other: tensor parallel ones exchange most, and are neighbours by
number (inference/parallel/world.py). Rank 0, which serves, is in the first bundle: Serve puts the
replica's actor there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def bundles_of_ranks(nodes: Sequence[str]) -> list[int]:
    """The bundle of each rank.

    Args:
        nodes: of each bundle, where Ray has put it.
    """
    order = {node: place for place, node in reversed([*enumerate(nodes)])}
    return sorted(range(len(nodes)), key=lambda bundle: (order[nodes[bundle]], bundle))


def environment_of(
    rank: int, ranks: int, *, address: str, port: int, own: Mapping[str, str]
) -> dict[str, str]:
    """The environment of one rank, as torchrun gives it; `address` and `port`: where rank 0 lets
    the others meet it. An engine of one rank needs none of it, and with several on one node Ray
    shows each its own GPUs only."""
    if ranks == 1:
        return dict(own)
    return {
        **own,
        "RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "MASTER_ADDR": address,
        "MASTER_PORT": str(port),
    }
