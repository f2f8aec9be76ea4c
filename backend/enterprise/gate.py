"""What a request for an organization needs beside a right key or session: an allowed address, and,
where the organization forces it, a session of its identity provider or a second factor. The
organization's directory (SCIM) comes from the same networks, or from those that are kept for it.

Remembered in each process for a few seconds: a change shows after at most `GATE_TTL_S`, in the
process that made it at once.
"""

import ipaddress
import time
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from backend.accounts.models import Role
from backend.accounts.principal import Principal
from backend.accounts.second_factors import has_second_factor
from backend.enterprise.models import AllowedNetwork, Connection, SignInPolicy
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied
from backend.platform.shared_load import SharedLoads

GATE_TTL_S = 5.0
_MAX_REMEMBERED = 20_000

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Gate:
    """What one organization asks for."""

    is_forced: bool
    networks: tuple[Network, ...]
    directory_networks: tuple[Network, ...] = ()
    needs_second_factor: bool = False

    def allows(self, address: str) -> bool:
        """Whether a client at `address` may use the organization."""
        return not self.networks or is_within(address, self.networks)

    def allows_directory(self, address: str) -> bool:
        """Whether its directory may call from `address`."""
        listed = self.networks + self.directory_networks
        return not listed or is_within(address, listed)


@dataclass(frozen=True, slots=True)
class Door:
    """By what `require_gate` let somebody in: for what stays open longer than one request."""

    principal: Principal
    address: str
    sso_organization: str | None
    is_own_account: bool = False

    async def refusal(self) -> PermissionDenied | None:
        """Why they would not be let in now; None where they would."""
        try:
            await require_gate(
                self.principal,
                address=self.address,
                sso_organization=self.sso_organization,
                is_own_account=self.is_own_account,
            )
        except PermissionDenied as refused:
            return refused
        return None


_remembered: dict[UUID, tuple[float, Gate]] = {}
_loads: SharedLoads[UUID, Gate] = SharedLoads()
# When a user was last seen to have a second factor.
_has_factor: dict[UUID, float] = {}


async def require_gate(
    principal: Principal,
    *,
    address: str,
    sso_organization: str | None,
    is_own_account: bool = False,
) -> None:
    """Refuse what the organization does not let in.

    Args:
        address: the client's, a trusted proxy's word already taken into account.
        sso_organization: whose identity provider the session came from; None for a password. Not
            looked at for keys.
        is_own_account: they see or change their account, which is where a second factor is added.
    Raises:
        PermissionDenied: `ip_not_allowed`, `sso_required`, `second_factor_required`.
    """
    gate = await _gate(principal.organization_id)
    if not gate.allows(address):
        raise _not_from(address)
    if principal.is_api_key or sso_organization == str(principal.organization_id):
        return
    if gate.is_forced and principal.role != Role.OWNER:
        raise PermissionDenied(
            "This organization signs in through its identity provider.", code="sso_required"
        )
    if not is_own_account and await _lacks_second_factor(gate, principal):
        raise PermissionDenied(
            "This organization demands a second factor: add one to your account.",
            code="second_factor_required",
        )


async def second_factor_is_due(principal: Principal, *, sso_organization: str | None) -> bool:
    """Whether `require_gate` refuses them until they have a second factor. Nothing is remembered
    of their factors: what the page shows holds at once."""
    if principal.is_api_key or sso_organization == str(principal.organization_id):
        return False
    gate = await _gate(principal.organization_id)
    return gate.needs_second_factor and not await in_database(
        has_second_factor, user_id=principal.user_id
    )


async def _lacks_second_factor(gate: Gate, principal: Principal) -> bool:
    """Asked anew until they have one: what they add opens the page at once."""
    if not gate.needs_second_factor:
        return False
    now = time.monotonic()
    if now - _has_factor.get(principal.user_id, -GATE_TTL_S) < GATE_TTL_S:
        return False
    if not await in_database(has_second_factor, user_id=principal.user_id):
        return True
    if len(_has_factor) > _MAX_REMEMBERED:
        _has_factor.clear()
    _has_factor[principal.user_id] = now
    return False


async def require_directory_gate(organization_id: UUID, *, address: str) -> None:
    """Refuse a directory's call (SCIM) from elsewhere: PermissionDenied, `ip_not_allowed`."""
    gate = await _gate(organization_id)
    if not gate.allows_directory(address):
        raise _not_from(address)


async def _gate(organization_id: UUID) -> Gate:
    known = _remembered.get(organization_id)
    if known is not None and time.monotonic() - known[0] < GATE_TTL_S:
        return known[1]
    return await _loads.get(organization_id, partial(in_database, gate_load, organization_id))


def _not_from(address: str) -> PermissionDenied:
    return PermissionDenied(
        f"This organization may not be used from {address}.", code="ip_not_allowed"
    )


def gate_load(organization_id: UUID) -> Gate:
    """From the database, and remembered."""
    forced = Connection.objects.filter(
        organization_id=organization_id, is_enabled=True, is_forced=True
    ).exists()
    networks: dict[bool, list[Network]] = {False: [], True: []}
    rows = AllowedNetwork.objects.filter(organization_id=organization_id)
    for cidr, for_directory in rows.values_list("cidr", "for_directory"):
        networks[for_directory].append(ipaddress.ip_network(cidr))
    if len(_remembered) > _MAX_REMEMBERED:
        _remembered.clear()
    demanding = SignInPolicy.objects.filter(
        organization_id=organization_id, requires_second_factor=True
    )
    gate = Gate(forced, tuple(networks[False]), tuple(networks[True]), demanding.exists())
    _remembered[organization_id] = (time.monotonic(), gate)
    return gate


def gate_forget(organization_id: UUID) -> None:
    """After a change, in this process."""
    _loads.forget(organization_id)
    _remembered.pop(organization_id, None)


def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """IPv4 in IPv6 (`::ffff:192.0.2.1`) counts as IPv4."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return any((mapped or found) in network for network in networks)
