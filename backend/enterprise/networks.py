"""From which networks an organization may be used, as its owners set it."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.enterprise.connections import require_owner
from backend.enterprise.gate import Network, gate_forget, is_within
from backend.enterprise.models import AllowedNetwork
from backend.platform.errors import Conflict, InvalidRequest

MAX_NETWORKS = 200


@dataclass(frozen=True, slots=True)
class Allowed:
    """A network, or a single address, that is let in; `for_directory`: its SCIM calls only."""

    cidr: str
    note: str = ""
    for_directory: bool = False


def networks_list(*, principal: Principal) -> list[AllowedNetwork]:
    """Raises PermissionDenied."""
    require_owner(principal)
    rows = AllowedNetwork.objects.filter(organization_id=principal.organization_id)
    return list(rows.order_by("pk")[:MAX_NETWORKS])


@transaction.atomic
def networks_set(
    *,
    principal: Principal,
    networks: Sequence[Allowed],
    address: str,
    confirm_lockout: bool = False,
) -> None:
    """Replace the list; an empty one lets everybody in.

    Args:
        networks: one that stands there for people and for the directory is for both.
        address: the caller's.
        confirm_lockout: they know that they will not get in from `address` any more.
    Raises:
        PermissionDenied. InvalidRequest: no network, or host bits set.
        Conflict: `lockout`, where `address` is in none of them.
    """
    require_owner(principal)
    # The last one of a network counts, so people's.
    ordered = sorted(networks, key=lambda one: not one.for_directory)
    parsed = {str(_network(one.cidr)): one for one in ordered}
    wanted = tuple(
        ipaddress.ip_network(cidr) for cidr, one in parsed.items() if not one.for_directory
    )
    if wanted and not is_within(address, wanted) and not confirm_lockout:
        raise Conflict(
            f"You are at {address}, which is in none of these networks: you would be locked out at"
            " once.",
            code="lockout",
            param="networks",
        )
    AllowedNetwork.objects.filter(organization_id=principal.organization_id).delete()
    AllowedNetwork.objects.bulk_create(
        AllowedNetwork(
            organization_id=principal.organization_id,
            cidr=cidr,
            note=parsed[cidr].note,
            for_directory=parsed[cidr].for_directory,
        )
        for cidr in dict.fromkeys(str(_network(one.cidr)) for one in networks)
    )
    record(
        Action.IP_ALLOWLIST_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("ip_allowlist", principal.organization_id),
        details={
            "networks": [str(one) for one in wanted],
            "directory_networks": [cidr for cidr, one in parsed.items() if one.for_directory],
        },
    )
    transaction.on_commit(lambda: gate_forget(principal.organization_id))


def _network(cidr: str) -> Network:
    try:
        return ipaddress.ip_network(cidr.strip())
    except ValueError as error:
        raise InvalidRequest(
            f"{cidr!r} is no network: write 192.0.2.0/24 or 2001:db8::/32, host bits zero.",
            param="networks",
        ) from error
