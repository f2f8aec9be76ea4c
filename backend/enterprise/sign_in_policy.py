"""Whether an organization demands a second factor of its members, as its owners set it.

Who has none may see and set up their own account, and nothing of the organization (gate.py). API
keys go on, and so does who signs in through the organization's identity provider, which asks for
factors itself.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef

from backend.accounts.models import Membership
from backend.accounts.principal import Principal
from backend.accounts.second_factors import factors_of, has_second_factor
from backend.audit.actions import Action
from backend.audit.services import record
from backend.enterprise.connections import require_owner
from backend.enterprise.gate import gate_forget
from backend.enterprise.models import SignInPolicy
from backend.platform.errors import Conflict


@dataclass(frozen=True, slots=True)
class SignInRules:
    """What holds, and how many active members have no second factor now."""

    requires_second_factor: bool
    members_without: int


def sign_in_policy_get(*, principal: Principal) -> SignInRules:
    """Raises PermissionDenied."""
    require_owner(principal)
    requires = SignInPolicy.objects.filter(
        organization_id=principal.organization_id, requires_second_factor=True
    )
    without = Membership.objects.filter(
        ~Exists(factors_of(OuterRef("user_id"))),
        organization_id=principal.organization_id,
        user__is_active=True,
    )
    return SignInRules(requires.exists(), without.count())


@transaction.atomic
def sign_in_policy_set(*, principal: Principal, requires_second_factor: bool) -> None:
    """Raises:
    PermissionDenied: no owner. Conflict: the owner who demands it has none.
    """
    require_owner(principal)
    if requires_second_factor and not has_second_factor(user_id=principal.user_id):
        raise Conflict(
            "Add a second factor to your own account first: you would be locked out at once.",
            param="requires_second_factor",
            code="second_factor_needed",
        )
    SignInPolicy.objects.update_or_create(
        organization_id=principal.organization_id,
        defaults={"requires_second_factor": requires_second_factor},
    )
    record(
        Action.SIGN_IN_POLICY_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("sign_in_policy", principal.organization_id),
        details={"requires_second_factor": requires_second_factor},
    )
    transaction.on_commit(lambda: gate_forget(principal.organization_id))
