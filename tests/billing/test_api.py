"""The HTTP interface: OpenAI's own client reads the organization endpoints; money is private."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

from backend.accounts.models import Project
from backend.accounts.services import api_key_create
from backend.audit.models import AuditEvent
from billing.invoices.services import close_and_issue_month
from billing.models import BillingAccount, Budget, Invoice, WebhookDelivery, WebhookEndpoint
from billing.periods import month_of
from billing.prices.services import prices_seed
from billing.services import usage_record_create
from billing.webhooks.events import invoice_event
from tests.billing import factories
from tests.billing.api_users import ApiUser, api_user_new, in_process
from tests.billing.test_budgets_inline import project_price_set

pytestmark = pytest.mark.django_db(transaction=True)
OCTOBER = month_of(datetime(2026, 10, 1, tzinfo=UTC))
PRICES = {factories.MODEL: {"input": "1", "cached_input": "1", "output": "2"}}


@pytest.fixture
async def callers() -> AsyncIterator[dict[str, ApiUser]]:
    made = {name: await api_user_new(role=name) for name in ("owner", "finance", "member")}
    yield made
    for caller in made.values():
        await caller.http.aclose()


@sync_to_async
def use(caller: ApiUser, *, days: int, **changes: Any) -> None:
    """One generation, that many days into October: 100 tokens in, 50 out: 0.20."""
    prices_seed(prices=PRICES)
    with transaction.atomic():
        usage_record_create(
            facts=factories.facts(
                caller.principal,
                occurred_at=OCTOBER.start + timedelta(days=days, hours=3),
                **changes,
            )
        )


async def test_openais_client_reads_usage_page_by_page(callers):
    owner = callers["owner"]
    for day in (0, 0, 9):
        await use(owner, days=day, image_tokens=30)
    await use(callers["finance"], days=0)  # another organization
    usage = owner.openai.admin.organization.usage
    start, end = int(OCTOBER.start.timestamp()), int(OCTOBER.end.timestamp())
    page = await usage.completions(start_time=start, end_time=end, limit=7, group_by=["model"])
    assert [len(bucket.results) for bucket in page.data] == [1, 0, 0, 0, 0, 0, 0]
    first = page.data[0].results[0]
    assert (first.input_tokens, first.input_cached_tokens, first.output_tokens) == (200, 40, 100)
    assert first.input_image_tokens == 60
    assert (first.num_model_requests, first.model) == (2, factories.MODEL)
    assert page.has_more
    requests, pages = 0, 0
    token = None
    while True:
        more: dict[str, Any] = {"page": token} if token else {}
        page = await usage.completions(start_time=start, end_time=end, limit=7, **more)
        requests += sum(r.num_model_requests for b in page.data for r in b.results)
        pages += 1
        token = page.next_page
        if token is None:
            break
    assert (requests, pages) == (3, 5)


async def test_costs_are_listed_by_day(callers):
    owner = callers["owner"]
    await use(owner, days=2)
    costs = await owner.openai.admin.organization.usage.costs(
        start_time=int(OCTOBER.start.timestamp()), limit=4, group_by=["line_item"]
    )
    [result] = costs.data[2].results
    assert result.amount.value == pytest.approx(0.2)
    assert (result.amount.currency, result.line_item) == ("usd", factories.MODEL)


async def test_key_sees_and_pays_the_price_of_its_project(callers):
    """In the list of models, in the costs and on the invoice; a key of another project does not."""
    owner = callers["owner"]
    organization_id = owner.principal.organization_id
    search = await Project.objects.acreate(organization_id=organization_id, name="Search")
    await use(owner, days=1)
    await sync_to_async(project_price_set)(organization_id, search.pk, "0.5")
    await use(owner, days=1, project_id=search.pk)
    _, secret = await sync_to_async(api_key_create)(
        principal=owner.principal, name="search", project_id=search.pk
    )
    prices = {}
    for key in (owner.secret, secret):
        headers = {"Authorization": f"Bearer {key}"}
        one = await owner.http.get(f"/v1/models/{factories.MODEL}", headers=headers)
        every = await owner.http.get("/v1/models", headers=headers)
        [listed] = [x for x in every.json()["data"] if x["id"] == factories.MODEL]
        page = await owner.http.get("/api/models", headers=headers)
        [shown] = [x for x in page.json()["data"] if x["id"] == factories.MODEL]
        assert one.json()["prices"] == listed["prices"] == shown["prices"]
        prices[key] = Decimal(listed["prices"]["output"])
    assert prices == {owner.secret: 2, secret: Decimal("0.5")}
    costs = await owner.openai.admin.organization.usage.costs(
        start_time=int(OCTOBER.start.timestamp()), limit=4, group_by=["project_id"]
    )
    amounts = {result.project_id: result.amount.value for result in costs.data[1].results}
    assert amounts == {
        str(owner.principal.project_id): pytest.approx(0.2),
        str(search.pk): pytest.approx(0.125),
    }
    await sync_to_async(close_and_issue_month)(month=OCTOBER, now=OCTOBER.end + timedelta(days=2))
    [invoice] = (await owner.get("/api/invoices")).json()["data"]
    lines = (await owner.get(f"/api/invoices/{invoice['id']}")).json()["lines"]
    assert [(x["project_name"], x["at_project_price"], Decimal(x["amount"])) for x in lines] == [
        ("Default", False, Decimal("0.2")),
        ("Search", True, Decimal("0.125")),
    ]


async def test_costs_are_in_the_organizations_currency(callers):
    owner = callers["owner"]
    await BillingAccount.objects.acreate(
        organization_id=owner.principal.organization_id, currency="EUR"
    )
    await use(owner, days=1)
    costs = await owner.openai.admin.organization.usage.costs(
        start_time=int(OCTOBER.start.timestamp()), limit=4
    )
    found = [result.amount for bucket in costs.data for result in bucket.results]
    assert {amount.currency for amount in found} == {"eur"}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"start_time": 1},
        {"start_time": 1_760_000_000, "end_time": 1_750_000_000},
        {"start_time": 1_760_000_000, "bucket_width": "5m"},
        {"start_time": 1_760_000_000, "limit": 0},
        {"start_time": 1_760_000_000, "limit": 9999},
        {"start_time": 1_760_000_000, "group_by": "favourite_colour"},
        {"start_time": 1_760_000_000, "page": "x"},
        {"start_time": 1_760_000_000, "project_ids": "x"},
        {"start_time": 1_760_000_000, "project_ids[]": "x"},
        {"start_time": 1_760_000_000, "models": "\x00"},
        {"start_time": 1_760_000_000, "models[]": "\x00"},
        {"start_time": 1_760_000_000, "page": "-1"},
        {"start_time": 1_760_000_000, "page": "9" * 20},
    ],
)
async def test_invalid_parameter_is_a_400_that_names_it(callers, params):
    answer = await callers["owner"].get("/v1/organization/usage/completions", **params)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


PRIVATE = [
    "/v1/organization/usage/completions?start_time=1760000000",
    "/v1/organization/costs?start_time=1760000000",
    "/api/invoices",
    "/api/budgets",
    "/api/credit",
    "/api/webhooks",
    "/api/webhooks/deliveries",
]


@pytest.mark.parametrize("path", PRIVATE)
async def test_owners_and_finance_read_and_members_do_not(callers, path):
    answers = {name: (await caller.get(path)).status_code for name, caller in callers.items()}
    assert answers == {"owner": 200, "finance": 200, "member": 403}
    async with httpx.AsyncClient(transport=in_process(), base_url="http://testserver") as anonymous:
        assert (await anonymous.get(path)).status_code == 401


async def test_invoices_are_listed_shown_and_downloaded_by_their_organization_only(callers):
    owner, other_user = callers["owner"], callers["finance"]
    await use(owner, days=1)
    await sync_to_async(close_and_issue_month)(month=OCTOBER, now=datetime(2026, 12, 1, tzinfo=UTC))
    [invoice] = (await owner.get("/api/invoices")).json()["data"]
    assert (invoice["period"], invoice["total"], invoice["status"]) == ("2026-10", "0.20", "open")
    path = f"/api/invoices/{invoice['id']}"
    shown = (await owner.get(path)).json()
    assert shown["lines"][0]["amount"].startswith("0.2")
    assert (await owner.get(f"{path}/document.pdf")).content.startswith(b"%PDF")
    assert "attachment" in (await owner.get(f"{path}/document.csv")).headers["Content-Disposition"]
    for rest in ("", "/document.pdf", "/document.csv"):
        assert (await other_user.get(path + rest)).status_code == 404
    assert (await other_user.get("/api/invoices")).json() == {"data": [], "next_cursor": None}
    recorded = AuditEvent.objects.filter(action="invoice.downloaded", target_id=str(invoice["id"]))
    kinds = [event.details["kind"] async for event in recorded.order_by("created_at")]
    assert kinds == ["pdf", "csv"]


async def test_invoices_come_in_pages_newest_first(callers):
    owner, other_user = callers["owner"], callers["finance"]

    def issue() -> list[int]:
        months = [f"2026-0{number}" for number in range(1, 6)]
        return [
            Invoice.objects.create(
                organization_id=owner.principal.organization_id,
                status="paid",
                series="INV",
                number=number,
                period_start=f"{month}-01T00:00Z",
                period_end=f"{month}-28T00:00Z",
                issued_at=f"{month}-28T00:00Z",
                currency="USD",
                subtotal=0,
                tax_rate=0,
                tax=0,
                total=0,
            ).pk
            for number, month in enumerate(months, start=1)
        ]

    issued = await sync_to_async(issue)()
    assert await ids_by_pages(owner, "/api/invoices") == issued[::-1]
    await assert_wrong_pages_are_refused(owner, "/api/invoices")
    assert (await other_user.get("/api/invoices", after=issued[0])).status_code == 400


async def test_draft_invoices_are_not_listed(callers):
    owner = callers["owner"]
    await use(owner, days=1)
    await sync_to_async(Invoice.objects.create)(
        organization_id=owner.principal.organization_id,
        period_start=OCTOBER.start,
        period_end=OCTOBER.end,
        currency="USD",
        subtotal=1,
        tax_rate=0,
        tax=0,
        total=1,
    )
    assert (await owner.get("/api/invoices")).json() == {"data": [], "next_cursor": None}


async def test_budgets_are_set_shown_with_what_is_spent_and_removed(callers):
    owner = callers["owner"]
    await sync_to_async(prices_seed)(prices=PRICES)
    for amount in ("10", "12.50"):
        answer = await owner.http.post("/api/budgets", json={"amount": amount, "is_hard": True})
        assert answer.status_code == 200, answer.text
    await use_now(owner)
    [budget] = (await owner.get("/api/budgets")).json()["data"]
    assert (budget["amount"], budget["scope"], budget["is_hard"]) == ("12.50", "organization", True)
    assert Decimal(budget["spent"]) == Decimal("0.2")
    path = f"/api/budgets/{budget['id']}"
    assert (await callers["finance"].http.delete(path)).status_code == 404
    assert (await owner.http.delete(path)).status_code == 204
    assert (await owner.get("/api/budgets")).json() == {"data": [], "next_cursor": None}


async def test_budgets_and_deliveries_are_listed_page_by_page(callers):
    owner, other_user = callers["owner"], callers["finance"]
    now = datetime.now(UTC)

    def make() -> tuple[list[int], list[str]]:
        organization_id = owner.principal.organization_id
        projects = [
            Project.objects.create(organization_id=organization_id, name=f"P{number}")
            for number in range(5)
        ]
        budgets = [
            Budget.objects.create(organization_id=organization_id, project=project, amount=5)
            for project in projects
        ]
        endpoint = WebhookEndpoint.objects.create(
            organization_id=organization_id, url="https://example.com/hook", types=[]
        )
        deliveries = [
            WebhookDelivery.objects.create(
                endpoint=endpoint,
                event_id=uuid4(),
                type="invoice.issued",
                payload={},
                created_at=now + timedelta(seconds=second),
            )
            for second in range(5)
        ]
        return [each.pk for each in budgets], [str(each.pk) for each in deliveries]

    budgets, deliveries = await sync_to_async(make)()
    assert await ids_by_pages(owner, "/api/budgets") == budgets
    assert await ids_by_pages(owner, "/api/webhooks/deliveries") == deliveries[::-1]
    for path, others in (("/api/budgets", budgets), ("/api/webhooks/deliveries", deliveries)):
        await assert_wrong_pages_are_refused(owner, path)
        assert (await other_user.get(path, after=others[0])).status_code == 400


async def ids_by_pages(caller: ApiUser, path: str) -> list[Any]:
    """Those of the whole list, two at a time."""
    seen: list[Any] = []
    after = None
    while True:
        page = (await caller.get(path, limit=2, **({"after": after} if after else {}))).json()
        assert len(page["data"]) <= 2
        seen += [row["id"] for row in page["data"]]
        after = page["next_cursor"]
        if after is None:
            return seen


async def assert_wrong_pages_are_refused(caller: ApiUser, path: str) -> None:
    for wrong in ({"after": "x"}, {"after": "99999999999999999999"}, {"limit": 0}, {"limit": 101}):
        refused = await caller.get(path, **wrong)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, next(iter(wrong)))


@sync_to_async
def use_now(caller: ApiUser) -> None:
    with transaction.atomic():
        usage_record_create(facts=factories.facts(caller.principal))


@pytest.mark.parametrize(
    "body",
    [{}, {"amount": "-1"}, {"amount": "1e99"}, {"amount": "NaN"}, {"amount": "1", "colour": "red"}],
)
async def test_invalid_budget_is_refused(callers, body):
    assert (await callers["owner"].http.post("/api/budgets", json=body)).status_code == 400


async def test_webhooks_show_their_secret_once_and_deliveries_can_be_replayed(callers):
    owner, other_user = callers["owner"], callers["finance"]
    body = {"url": "https://example.com/hook", "types": ["invoice.issued"]}
    created = (await owner.http.post("/api/webhooks", json=body)).json()
    assert created["secret"].startswith("whsec_")
    [listed] = (await owner.get("/api/webhooks")).json()["data"]
    assert "secret" not in listed
    await use(owner, days=1)
    await sync_to_async(close_and_issue_month)(month=OCTOBER, now=datetime(2026, 12, 1, tzinfo=UTC))
    [delivery] = (await owner.get("/api/webhooks/deliveries")).json()["data"]
    assert (delivery["type"], delivery["state"]) == ("invoice.issued", "pending")
    path = f"/api/webhooks/deliveries/{delivery['id']}/replay"
    assert (await other_user.http.post(path)).status_code == 404
    assert (await owner.http.post(path)).json()["event_id"] == delivery["event_id"]
    assert (await other_user.http.delete(f"/api/webhooks/{created['id']}")).status_code == 404
    assert (await owner.http.delete(f"/api/webhooks/{created['id']}")).status_code == 204


async def test_disabled_webhook_is_listed_as_such_and_can_be_enabled(callers):
    owner, other_user = callers["owner"], callers["finance"]
    body = {"url": "https://example.com/hook", "types": ["invoice.issued"]}
    created = (await owner.http.post("/api/webhooks", json=body)).json()
    now = datetime.now(UTC)
    await WebhookEndpoint.objects.aupdate(
        enabled=False, failures=12, failing_since=now, disabled_at=now
    )
    [listed] = (await owner.get("/api/webhooks")).json()["data"]
    assert (listed["enabled"], listed["failures"]) == (False, 12)
    assert listed["disabled_at"] == listed["failing_since"] is not None
    path = f"/api/webhooks/{created['id']}/enable"
    assert (await other_user.http.post(path)).status_code == 404
    assert (await callers["member"].http.post(path)).status_code == 403
    enabled = (await owner.http.post(path)).json()
    assert (enabled["enabled"], enabled["failures"], enabled["disabled_at"]) == (True, 0, None)


async def test_event_of_a_rolled_back_transaction_is_not_delivered(callers):
    owner = callers["owner"]
    await use(owner, days=1)
    body = {"url": "https://example.com/hook", "types": ["invoice.issued"]}
    await owner.http.post("/api/webhooks", json=body)

    def fails() -> None:
        with pytest.raises(RuntimeError), transaction.atomic():
            close_and_issue_month(month=OCTOBER, now=datetime(2026, 12, 1, tzinfo=UTC))
            invoice_event("invoice.issued", Invoice.objects.get())
            raise RuntimeError

    await sync_to_async(fails)()
    assert not await WebhookDelivery.objects.aexists()
