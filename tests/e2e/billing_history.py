"""An organization with a history of usage, budgets and invoices, for the finance page's tests."""

from typing import Any

from tests.e2e.users import Person
from tests.support.product import Product

# Run inside the product, through billing's own services. Amounts are such that a cent shows.
_HISTORY = """
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4
from django.db import transaction
from backend.accounts.models import Membership, Project, User
from backend.accounts.services import user_create
from billing.invoices.closing import invoice_close
from billing.invoices.services import credit_note_create, invoice_issue, invoice_pay
from billing.models import Budget
from billing.periods import month_of
from billing.quantities import TokenCounts
from billing.services import UsageFacts, usage_record_create

me = Membership.objects.select_related("user").get(user__email="{email}")
organization_id = me.organization_id
project = Project.objects.get(organization_id=organization_id, is_default=True)
colleague = User.objects.create_user(uuid4().hex + "@example.com", name="Grace Hopper")
Membership.objects.create(organization_id=organization_id, user=colleague, role="member")
now = datetime.now(UTC)

def use(moment, millions, user):
    with transaction.atomic():
        usage_record_create(facts=UsageFacts(
            generation_id=uuid4(), occurred_at=moment, organization_id=organization_id,
            project_id=project.id, user_id=user.pk, key_id=None, model="smollm2-135m",
            pool="smollm2-135m", reported=TokenCounts(
                input=millions * 1_000_000, cached_input=millions * 200_000,
                output=millions * 400_000),
            state="completed", ttft_ms=90, duration_ms=900))

last = month_of(month_of(now).start - timedelta(days=1))
earlier = month_of(last.start - timedelta(days=1))
for month, millions in ((earlier, 40), (last, 90)):
    for day in range(0, 28, 3):
        use(month.start + timedelta(days=day, hours=9), millions + day, me.user)
    invoice = invoice_close(organization_id=organization_id, month=month, now=now)
    invoice_issue(invoice_id=invoice.pk, now=month.end + timedelta(hours=3))
    if month is earlier:
        invoice_pay(invoice_id=invoice.pk, now=now)
        credit_note_create(
            invoice_id=invoice.pk, amount=Decimal("12.50"), reason="An hour without service",
            now=now - timedelta(days=2))
for days in range(0, now.day):
    moment = now - timedelta(days=days)
    use(moment, 5 + days * 7 % 11, me.user)
    use(moment, 2, colleague)
Budget.objects.create(organization_id=organization_id, amount=Decimal(40), is_hard=True)
Budget.objects.create(organization_id=organization_id, amount=Decimal(25), is_hard=False)
Budget.objects.create(
    organization_id=organization_id, project=project, amount=Decimal(1000), is_hard=True)
me.role = "{role}"
me.save()
"""


def with_history(product: Product, person: Person, *, role: str) -> Person:
    """Give `person`'s organization a colleague, three months of usage, budgets, two invoices and
    a credit note; then change the person's role."""
    product.inside(_HISTORY.format(email=person.email, role=role))
    return person


def documents(person: Person) -> list[dict[str, Any]]:
    """The organization's invoices as the API lists them, newest first."""
    found: list[dict[str, Any]] = person.call("GET", "/api/invoices")["data"]
    return found
