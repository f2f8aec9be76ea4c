"""Who an organization's invoices are for, as its own owners and finance members say it."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import InvalidRequest
from backend.platform.languages import TAGS
from billing.models import BillingAccount
from billing.permissions import require_money_writer

FIELDS = frozenset({"legal_name", "address", "tax_id", "country", "email", "language"})


@transaction.atomic
def billing_details_set(*, principal: Principal, changes: Mapping[str, str]) -> None:
    """Change some of `FIELDS`; issued documents keep what they have.

    Raises: PermissionDenied; InvalidRequest: no address of e-mail, no language.
    """
    require_money_writer(principal)
    if changes.get("email"):
        try:
            validate_email(changes["email"])
        except ValidationError as error:
            raise InvalidRequest("This is no e-mail address.", param="email") from error
    if changes.get("language", "") not in ("", *TAGS):
        raise InvalidRequest(f"Languages are {', '.join(TAGS)}.", param="language")
    account, _ = BillingAccount.objects.get_or_create(organization_id=principal.organization_id)
    changed = FIELDS & changes.keys()
    for name in changed:
        setattr(account, name, changes[name].strip())
    # An operator may change the currency or the tax at the same time.
    account.save(update_fields=sorted(changed))
    record(
        Action.BILLING_DETAILS_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        details={"fields": ", ".join(sorted(changed))},
    )
