"""A project's own price: before the organization's, before the list's, and the same in each figure.

The oracle of the property test prices record by record, by itself, from the rows of the test.
"""

import io
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from backend.accounts.models import Project
from backend.accounts.projects import project_archive
from backend.platform.errors import InvalidRequest
from billing.aggregator.ingest import ingest
from billing.budgets.credit import credit_state
from billing.budgets.limits import load_limits
from billing.budgets.services import budget_set
from billing.budgets.spending import spent_by_limit
from billing.events import encode
from billing.invoices.csv import invoice_csv
from billing.invoices.pdf import invoice_pdf
from billing.models import Price, UsageRecord
from billing.prices import Payer, Tier
from billing.prices.loading import clear_price_cache, load_book
from billing.prices.services import BEGINNING, next_hour, prices_seed, prices_set
from billing.quantities import Kind
from billing.reports.figures import report
from billing.selectors import GROUPS, usage_summary
from billing.services import UsageFacts, usage_cost, usage_record_create
from billing.usage_buckets import bucket_page, cost_buckets
from tests.billing import factories
from tests.billing.invoicing import NOW, OCTOBER, close, give_credit, use
from tests.billing.test_ingest import messages

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
LIST_PRICES = {factories.MODEL: {"input": "10", "output": "10"}}


@pytest.fixture
def caller():
    prices_seed(prices=LIST_PRICES)
    return factories.principal()


@pytest.fixture
def search(caller):
    return Project.objects.create(organization_id=caller.organization_id, name="Search")


def price(
    owner: Payer,
    *prices: str,
    at: datetime = BEGINNING,
    kind: str = "output",
    model: str = factories.MODEL,
) -> None:
    """A row as it was written in time: services let no price begin in the past. A further price is
    that of a tier, each of 100 tokens."""
    Price.objects.create(
        organization_id=owner.organization_id,
        project_id=owner.project_id,
        model=model,
        kind=kind,
        tiers=[{"from": 100 * n, "price": each} for n, each in enumerate(prices)],
        effective_from=at,
    )
    clear_price_cache()


def figures(caller) -> dict[str, Decimal]:
    """What October cost, at each place that says it."""
    organization_id = caller.organization_id
    page = bucket_page(
        start_time=int(OCTOBER.start.timestamp()),
        end_time=int(OCTOBER.end.timestamp()),
        bucket_width="1d",
        limit=31,
        page=None,
    )
    _, days = cost_buckets(principal=caller, page=page, group_by=[])
    limits = load_limits(organization_id)
    [budget] = spent_by_limit(limits, limits.limits, at=NOON).values()
    return {
        **{
            f"the page by {group}": usage_summary(
                organization_id=organization_id, period="2026-10", group_by=group
            ).cost
            for group in (None, *GROUPS)
        },
        "costs": sum((one.amount for _, results in days for one in results), Decimal(0)),
        "budget": budget,
        "credit": 10**6 - credit_state(organization_id, at=NOW).remaining,
    }


def test_project_pays_its_price_and_another_one_the_organizations_in_every_figure(caller, search):
    price(Payer(caller.organization_id), "5")
    price(Payer(caller.organization_id, search.pk), "2")
    budget_set(principal=caller, amount=Decimal(100), is_hard=False)
    give_credit(caller, 10**6)
    use(caller, 1000, project_id=search.pk)
    use(caller, 1000)
    elsewhere = factories.principal()
    use(elsewhere, 1000)
    assert set(figures(caller).values()) == {Decimal(7)}
    by_project = usage_summary(
        organization_id=caller.organization_id, period="2026-10", group_by="project"
    )
    assert {row.label: row.cost for row in by_project.data} == {"Default": 5, "Search": 2}
    only = usage_summary(
        organization_id=caller.organization_id, period="2026-10", project_id=search.pk
    )
    assert only.cost == 2
    ingest(messages(*map(encode, UsageRecord.objects.all())))
    assert set(figures(caller).values()) == {Decimal(7)}
    assert report(OCTOBER).total.revenue == 17
    invoice = close(caller)
    assert [(x.project_name, x.amount, x.at_project_price) for x in invoice.lines.all()] == [
        ("Default", 5, False),
        ("Search", 2, True),
    ]
    rows = [row.split(",") for row in invoice_csv(invoice).splitlines()]
    assert [row[rows[0].index("price_of")] for row in rows[1:]] == ["", "project"]
    pages = PdfReader(io.BytesIO(invoice_pdf(invoice))).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert text.count("price of the project") == 1


def test_price_that_changes_at_midnight_makes_two_lines_of_a_project(caller, search):
    midnight = datetime(2026, 10, 6, tzinfo=UTC)
    price(Payer(caller.organization_id, search.pk), "2", at=midnight)
    budget_set(principal=caller, amount=Decimal(100), is_hard=False)
    give_credit(caller, 10**6)
    for moment in (midnight - timedelta(microseconds=1), midnight):
        with transaction.atomic():
            usage_record_create(
                facts=factories.facts(
                    caller,
                    occurred_at=moment,
                    project_id=search.pk,
                    input_tokens=0,
                    cached_input_tokens=0,
                    output_tokens=1000,
                )
            )
    assert set(figures(caller).values()) == {Decimal(12)}
    days = usage_summary(
        organization_id=caller.organization_id, period="2026-10", group_by="day"
    ).data
    assert [row.cost for row in days if row.cost] == [10, 2]
    lines = close(caller).lines.all()
    assert [(x.amount, x.at_project_price, x.output_tokens) for x in lines] == [
        (10, False, 1000),
        (2, True, 1000),
    ]


def test_tiers_of_a_project_count_what_it_used_at_its_own_price(caller, search):
    """And the organization's count what was used at the organization's: in whatever order."""
    price(Payer(caller.organization_id), "10", "1")
    price(Payer(caller.organization_id, search.pk), "8", "4")
    inline = []
    for project_id in (search.pk, caller.project_id, search.pk, caller.project_id):
        facts = factories.facts(
            caller,
            occurred_at=NOON,
            project_id=project_id,
            input_tokens=0,
            cached_input_tokens=0,
            output_tokens=75,
        )
        with transaction.atomic():
            usage_record_create(facts=facts)
        inline.append(usage_cost(facts=facts, book=load_book()))
    assert inline == [
        Decimal("0.6"),
        Decimal("0.75"),
        Decimal("0.2") + Decimal("0.2"),
        Decimal("0.25") + Decimal("0.05"),
    ]
    assert [line.amount for line in close(caller).lines.all()] == [Decimal("1.05"), Decimal("1.0")]


def test_usage_of_a_project_that_is_archived_or_gone_keeps_its_price(caller, search):
    price(Payer(caller.organization_id, search.pk), "2")
    use(caller, 1000, project_id=search.pk)
    project_archive(principal=caller, project_id=search.pk)
    assert usage_summary(organization_id=caller.organization_id, period="2026-10").cost == 2
    Project.objects.filter(pk=search.pk).delete()
    clear_price_cache()
    assert Price.objects.filter(project_id=search.pk).exists()
    [line] = close(caller).lines.all()
    assert (line.amount, line.project_name) == (2, str(search.pk))


def test_price_of_another_organizations_project_is_refused(caller, search):
    elsewhere = factories.principal()
    soon = next_hour(datetime.now(UTC))
    for owner, param in (
        (Payer(elsewhere.organization_id, search.pk), "project"),
        (Payer(None, search.pk), "organization"),
    ):
        with pytest.raises(InvalidRequest) as refusal:
            prices_set(
                model=factories.MODEL,
                prices={Kind.OUTPUT: (Tier(0, Decimal(0)),)},
                effective_from=soon,
                owner=owner,
            )
        assert refusal.value.param == param
    with pytest.raises(IntegrityError), transaction.atomic():
        price(Payer(None, search.pk), "0")
    # Were there such a row all the same, it would be nobody's price.
    price(Payer(elsewhere.organization_id, search.pk), "0")
    use(caller, 1000, project_id=search.pk)
    assert usage_summary(organization_id=caller.organization_id, period="2026-10").cost == 10


def test_first_price_in_the_past_is_refused_only_where_it_would_reprice_a_project(caller, search):
    """Its input has a price of its own, which stays; its cached input costs the same until the
    list has a price of cached input, which would go before."""
    price(Payer(caller.organization_id, search.pk), "2", kind="input", model="new")

    def set_in_the_past(kind: Kind) -> None:
        prices = {kind: (Tier(0, Decimal(9)),)}
        prices_set(model="new", prices=prices, effective_from=BEGINNING)

    with pytest.raises(InvalidRequest, match="in the future"):
        set_in_the_past(Kind.CACHED_INPUT)
    set_in_the_past(Kind.INPUT)
    assert Price.objects.filter(model="new", organization=None).count() == 1


# --- any history ---------------------------------------------------------------------------------

OWNERS = ("list", "organization", 0, 1)
moments = st.integers(0, 50).map(lambda hours: NOON + timedelta(hours=hours))
rows = st.lists(
    st.tuples(
        st.sampled_from(OWNERS),
        st.lists(st.integers(1, 999), min_size=1, max_size=3),
        moments,
    ),
    max_size=6,
)
uses = st.lists(
    st.tuples(moments, st.integers(0, 59), st.integers(0, 2), st.integers(1, 250)),
    min_size=1,
    max_size=10,
)


def oracle(rows: list[tuple[UUID | str, list[int], datetime]], used: list[UsageFacts]) -> Decimal:
    """Token by token: the latest row of the project, else of the organization, else of the list."""
    volumes: dict[Any, int] = defaultdict(int)
    total = Decimal(0)
    for facts in used:
        for owner in (facts.project_id, "organization", "list"):
            known = [row for row in rows if row[0] == owner and row[2] <= facts.occurred_at]
            if known:
                break
        _, prices, _ = max(enumerate(known), key=lambda item: (item[1][2], item[0]))[1]
        scope = owner if isinstance(owner, UUID) else None
        for _ in range(facts.reported.output):
            tier = min(volumes[scope] // 100, len(prices) - 1)
            total += Decimal(prices[tier]) / 1000
            volumes[scope] += 1
    return total


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(rows, uses)
def test_costs_of_single_generations_add_up_to_every_figure_and_the_invoice(drawn, used):
    with transaction.atomic():
        clear_price_cache()
        caller = factories.principal()
        projects = [
            Project.objects.create(organization_id=caller.organization_id, name=f"P{n}").pk
            for n in range(2)
        ]
        owners: dict[Any, Payer] = {
            "list": Payer(),
            "organization": Payer(caller.organization_id),
            **{n: Payer(caller.organization_id, project) for n, project in enumerate(projects)},
        }
        budget_set(principal=caller, amount=Decimal(100), is_hard=False)
        give_credit(caller, 10**6)
        expected_rows: list[Any] = [("list", [7], BEGINNING)]
        price(Payer(), "7")
        for name, prices, at in drawn:
            price(owners[name], *map(str, prices), at=at)
            expected_rows.append((projects[name] if isinstance(name, int) else name, prices, at))
        inline, made = Decimal(0), []
        for hour, minute, which, tokens in sorted(used):
            facts = factories.facts(
                caller,
                occurred_at=hour + timedelta(minutes=minute),
                project_id=[*projects, caller.project_id][which],
                input_tokens=0,
                cached_input_tokens=0,
                output_tokens=tokens,
            )
            usage_record_create(facts=facts)
            inline += usage_cost(facts=facts, book=load_book())
            made.append(facts)
        assert inline == oracle(expected_rows, made)
        assert set(figures(caller).values()) == {inline}
        lines = close(caller).lines.all()
        assert sum(line.amount for line in lines) == inline
        transaction.set_rollback(True)
        clear_price_cache()
