"""The end of an account, as far as `accounts` goes; backend/rights/requests.py does the whole.

The row of the user stays without anything personal: invoices, usage and audits point at it.
"""

from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext

from backend.accounts.account_events import account_event_record
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import (
    Membership,
    Organization,
    PendingSignUp,
    Role,
    ServiceAccount,
    User,
)
from backend.accounts.service_accounts import service_account_end
from backend.accounts.services import user_active_set
from backend.audit.actions import Action
from backend.audit.services import Actor
from backend.platform.errors import Conflict, NotFound


@transaction.atomic
def user_delete(*, user_id: UUID) -> None:
    """Take what is personal from an account: name, address, ways in. Sessions and keys end at once.

    Raises:
        Conflict: they are the only owner of an organization with other members.
        NotFound: the account is gone already.
    """
    user = User.objects.select_for_update().filter(pk=user_id, is_active=True).first()
    if user is None:
        raise NotFound("This account does not exist any more.")
    account_event_record(Action.USER_DELETED, user_id=user.pk, details={"reason": "account"})
    _leave_organizations(user)
    with writing_to(user):
        mail_queue(
            to=user.email,
            kind="account_deleted",
            subject=gettext("Your account was deleted"),
            text=gettext(
                "Your Parley account was deleted. What is yours is being erased; a certificate of"
                " that follows. Invoices stay for as long as the law says.\n"
            ),
        )
    user_active_set(user=user, is_active=False)
    EmailAddress.objects.filter(user=user).delete()
    Authenticator.objects.filter(user=user).delete()
    PendingSignUp.objects.filter(email=user.email).delete()
    user.email, user.name = f"deleted-{user.pk.hex}@deleted.invalid", ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    user.user_permissions.clear()


def _leave_organizations(user: User) -> None:
    owned = Membership.objects.filter(user=user, role=Role.OWNER).values("organization_id")
    # Locked in one order: of two owners who leave at once, the second sees that the first has left.
    organizations = list(
        Organization.objects.filter(pk__in=owned).order_by("pk").select_for_update()
    )
    shared = (
        Organization.objects.filter(pk__in=[o.pk for o in organizations])
        .annotate(people=Count("memberships", filter=Q(memberships__user__service_account=None)))
        .filter(people__gt=1)
    )
    for organization in shared:
        owners = organization.memberships.filter(role=Role.OWNER).exclude(user=user)
        if not owners.exists():
            raise Conflict(
                f"You are the only owner of {organization.name}: make another member an owner, or"
                " remove its other members, first.",
                code="last_owner",
            )
    Membership.objects.filter(user=user).delete()
    # Where no person is left, no program goes on either.
    left = ServiceAccount.objects.filter(project__organization__in=organizations)
    for account in left.exclude(project__organization__in=[o.pk for o in shared]):
        service_account_end(account, actor=Actor(user_id=user.pk))
