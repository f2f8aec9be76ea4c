"""Real traffic while everything dies; then not a token and not a cent is missing.

Web, gateway, outbox, relay, broker, aggregator and the database are the product's own; only the
model is not: the upstream is a server that counts what it streams.
"""

import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tests.api.users import sign_up
from tests.chaos.money import agreement
from tests.chaos.money.customers import Customer
from tests.chaos.money.faults import RandomFaults, wait_until_quiet
from tests.kafka.apache import EventLog, KafkaCluster, event_log
from tests.support.product import Product, ProductDidNotStart
from tests.support.upstream import UpstreamThread

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]

SEED = int(os.environ.get("PARLEY_CHAOS_SEED", "4"))
STEPS = 60
NIGHTLY_STEPS = int(os.environ.get("PARLEY_CHAOS_STEPS", "120"))
CUSTOMERS = 3

_POOLS = """
[[model]]
id = "synthetic"
aliases = ["auto"]
context_window = 8192
max_output_tokens = 4096
capabilities = ["chat", "completions", "streaming"]
price_per_1k = {{ input = "{input}", cached_input = "0.11", output = "{output}" }}

[[model.replica]]
name = "synthetic"
url = "${{PARLEY_ENGINE_URL}}"
"""

# The current month, closed as if it were over.
_CLOSE = """
from datetime import UTC, datetime, timedelta
from billing.invoices.services import close_and_issue_month
from billing.periods import month_of
month = month_of(datetime.now(UTC))
print(close_and_issue_month(month=month, now=month.end + timedelta(hours=3)))
"""


@pytest.fixture
def upstream() -> Iterator[UpstreamThread]:
    thread = UpstreamThread(rate=40.0)
    thread.start()
    yield thread
    thread.stop()
    thread.close()


@pytest.fixture
def broker(scratch: Path) -> Iterator[EventLog]:
    with event_log(Path(tempfile.mkdtemp(dir=scratch, prefix="broker-"))) as running:
        yield running


@pytest.fixture
def product(scratch: Path, upstream: UpstreamThread, broker: EventLog) -> Iterator[Product]:
    directory = Path(tempfile.mkdtemp(dir=scratch))
    directory.chmod(0o711)
    pools = directory / "pools.toml"
    pools.write_text(_POOLS.format(**agreement.PRICES))
    running = Product(
        directory,
        engine_url=upstream.url,
        webs=2,
        background=("relay", "aggregator"),
        settings={
            "KAFKA_BOOTSTRAP_SERVERS": broker.url,
            "PARLEY_POOLS": str(pools),
            "PARLEY_GENERATION_LEASE_S": "2",
            "PARLEY_BILLING_TAX_RATE": str(agreement.TAX_RATE),
        },
    )
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.fixture
def customers(product: Product) -> Iterator[list[Customer]]:
    """Three organizations whose plan is not in the way."""
    with psycopg.connect(product.environment["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE accounts_plan SET requests_per_minute = 100000,"
            " tokens_per_minute = 100000000, concurrent_generations = 1000"
        )
    urls = [web.url for web in product.webs]
    people = [sign_up(product.url) for _ in range(CUSTOMERS)]
    made = [Customer(person, person.new_key()["secret"], urls) for person in people]
    yield made
    for customer in made:
        customer.close()


@pytest.mark.parametrize(
    "steps",
    [
        STEPS,
        pytest.param(
            NIGHTLY_STEPS,
            marks=pytest.mark.nightly(
                beside="tests/chaos/money/test_money.py"
                "::test_usage_billing_and_answers_agree_after_any_faults"
            ),
        ),
    ],
    ids=["in every run", "at night"],
)
def test_usage_billing_and_answers_agree_after_any_faults(
    steps: int,
    product: Product,
    broker: EventLog,
    upstream: UpstreamThread,
    customers: list[Customer],
) -> None:
    print(f"seed {SEED}, {steps} steps (PARLEY_CHAOS_SEED, PARLEY_CHAOS_STEPS)")
    faults = RandomFaults(product, broker, customers, SEED)
    try:
        faults.run(steps)
    finally:
        faults.close()
    for web in product.webs:
        product.wait_until_ready(web)
    wait_until_quiet(product)

    found = agreement.check_ledger(product)
    owners = {customer.organization_id: customer for customer in customers}
    delivered = {
        each.id: owners[each.organization_id].read_again(each.id)
        for each in found.values()
        if each.billed_output
    }
    for generation_id, wire in delivered.items():
        agreement.check_delivered(wire, found[generation_id])
    for receipt in faults.receipts:
        if receipt.generation_id in delivered:
            agreement.check_receipt(
                receipt, found[receipt.generation_id], delivered[receipt.generation_id]
            )
        else:
            assert receipt.text == ""
    continued = agreement.check_upstream(upstream.served, found.values())

    _reconcile(product, log_keeps_records=isinstance(broker, KafkaCluster))
    agreement.check_derived(product)
    product.manage("shell", "-c", _CLOSE)
    agreement.check_invoices(product, customers)

    refused = sum(receipt.refused for receipt in faults.receipts)
    assert refused <= sum(each.state == "blocked" for each in found.values())
    broken = sum(receipt.broken for receipt in faults.receipts)
    print(
        f"{dict(faults.done)}; {len(found)} generations, {continued} continued,"
        f" {refused} prompts refused, {broken} broken connections"
    )


def _reconcile(product: Product, *, log_keeps_records: bool) -> None:
    """The report says what differs, the repair mends it, and then nothing differs.

    A log that holds every record twice loses nothing, and nothing differs from the beginning.
    """
    today = datetime.now(UTC)
    first, last = (f"{today + timedelta(days=days):%Y-%m-%d}" for days in (-1, 2))
    span = ("reconcile", "--from", first, "--to", last)
    if not log_keeps_records:
        with pytest.raises(ProductDidNotStart, match="organization hours differ"):
            product.manage(*span)
        product.manage(*span, "--repair")
    assert "agree" in product.manage(*span)
    assert "Repaired" not in product.manage(*span, "--repair")
