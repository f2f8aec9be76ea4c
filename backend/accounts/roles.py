"""What a role may do. Every rule of roles that is not about money is here; that is in billing.

owner    everything, and who is an owner
admin    members, invitations, projects, keys; no owners
member   uses models, has keys of their own in their projects
finance  sees and changes money; makes no keys
viewer   sees reports, members and that there are projects; makes no keys and starts no generation
"""

from uuid import UUID

from backend.accounts.models import Role
from backend.accounts.principal import Principal
from backend.platform.errors import InvalidRequest, PermissionDenied

MANAGERS = frozenset({Role.OWNER, Role.ADMIN})
WITHOUT_KEYS = frozenset({Role.FINANCE, Role.VIEWER})
EVERYBODY = frozenset(Role)
# As OpenAI's administration API lists them; the rules themselves are below, and in billing.
ABILITIES: dict[str, frozenset[Role]] = {
    "owners.write": frozenset({Role.OWNER}),
    "members.write": MANAGERS,
    "projects.write": MANAGERS,
    "members.read": EVERYBODY,
    "keys.write": EVERYBODY - WITHOUT_KEYS,
    "generations.write": EVERYBODY - {Role.VIEWER},
    "money.write": MANAGERS | {Role.FINANCE},
    "usage.read": MANAGERS | WITHOUT_KEYS,
}


def require_manager(principal: Principal) -> None:
    """PermissionDenied unless the caller manages the organization's members and projects."""
    if principal.role not in MANAGERS:
        raise PermissionDenied("Only owners and admins of the organization may do this.")


def require_owner(principal: Principal) -> None:
    if principal.role != Role.OWNER:
        raise PermissionDenied("Only an owner of the organization may do this.")


def require_may_give(principal: Principal, role: str) -> None:
    """Raises InvalidRequest for a role that there is not, PermissionDenied for one that the caller
    may neither give nor take: theirs manages no members, or it is `owner` and they are none."""
    if role not in Role.values:
        known = ", ".join(Role.values)
        raise InvalidRequest(f"Unknown role {role!r}; there are {known}.", param="role")
    require_manager(principal)
    if not may_give(principal.role, role):
        raise PermissionDenied("Only an owner decides who is an owner.")


def may_give(giver: str, role: str) -> bool:
    return giver in MANAGERS and (role != Role.OWNER or giver == Role.OWNER)


def require_other_or_manager(principal: Principal, user_id: UUID, role: str) -> None:
    """Anyone may act on their own membership; on another's, who may give its role."""
    if user_id != principal.user_id:
        require_may_give(principal, role)
