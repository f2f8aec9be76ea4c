"""Who may see and change an organization's money. Every rule of access to billing is here.

Seeing the usage of all members, budgets, credit, invoices and webhooks is for owners, admins and
finance members; a viewer sees the usage of all members and no more, a plain member what they
used themselves. Changing budgets and webhooks is
for the same roles, by session or by an API key that is not restricted: the scope `usage` reads. A
key that was handed to a dashboard must not lift a spending limit, nor have events sent elsewhere.
"""

from uuid import UUID

from backend.accounts.models import Role
from backend.accounts.principal import Principal
from backend.platform.errors import PermissionDenied

MANAGERS = frozenset({Role.OWNER, Role.ADMIN, Role.FINANCE})
READERS = MANAGERS | {Role.VIEWER}


def require_manager(principal: Principal) -> None:
    """PermissionDenied unless the caller may see the organization's money."""
    if principal.role not in MANAGERS:
        raise PermissionDenied("Only owners, admins and finance may do this.")


def require_money_writer(principal: Principal) -> None:
    """PermissionDenied unless the caller may change budgets and webhooks."""
    require_manager(principal)
    if principal.scopes:
        raise PermissionDenied(
            "This API key is restricted, and a restricted key reads only. Use a key without"
            " scopes, or sign in.",
            code="insufficient_scope",
        )


def member_shown(principal: Principal) -> UUID | None:
    """Whose usage the caller is shown: their own, or None for that of all members."""
    return None if principal.role in READERS else principal.user_id
